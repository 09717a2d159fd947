// SPDX-License-Identifier: Apache-2.0
// Reads what marline/page/encode.py wrote: columns of numbers of seven bits a byte, compressed together.

async function readColumns(directory, text) {
  const binary = atob(text.trim());
  const packed = Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const columns = {};
  for (const [name, where] of Object.entries(directory)) columns[name] = unpack(bytes, where);
  return columns;
}

function unpack(bytes, { at, count: length, coding }) {
  const values = new Float64Array(length);
  let before = 0;
  for (let row = 0; row < length; row++) {
    let value = 0,
      factor = 1,
      byte;
    do {
      byte = bytes[at++];
      value += (byte & 127) * factor;
      factor *= 128;
    } while (byte & 128);
    if (coding !== "plain") value = value % 2 ? -(value + 1) / 2 : value / 2;
    if (coding === "differences") value = before += value;
    values[row] = value;
  }
  return values;
}

// The first row in [low, high) whose value is greater than `limit`; the values there grow.
function firstAbove(values, limit, low, high) {
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] > limit) high = middle;
    else low = middle + 1;
  }
  return low;
}

// Of a column that grows: where the rows of each number begin; one entry more than numbers.
function firsts(column, numbers) {
  const first = new Int32Array(numbers + 1);
  let row = 0;
  for (let number = 0; number <= numbers; number++) {
    while (row < column.length && column[row] < number) row++;
    first[number] = row;
  }
  return first;
}
