// SPDX-License-Identifier: Apache-2.0
// Numbers as the text report writes them (marline/units.py), and small helpers for the page's elements.

function threeDigits(value) {
  const size = Math.abs(value);
  return value.toFixed(size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
}

function duration(ns) {
  if (ns === 0) return "0 s";
  const size = Math.abs(ns);
  const [factor, unit] = size >= 1e9 ? [1e9, "s"] : size >= 1e6 ? [1e6, "ms"] : size >= 1e3 ? [1e3, "us"] : [1, "ns"];
  return `${threeDigits(ns / factor)} ${unit}`;
}

// On an axis whose marks are `step` apart.
function axisTime(time, step) {
  if (time === 0) return "0";
  const [factor, unit] =
    Math.abs(time) >= 1e9
      ? [1e9, "s"]
      : Math.abs(time) >= 1e6
        ? [1e6, "ms"]
        : Math.abs(time) >= 1e3
          ? [1e3, "us"]
          : [1, "ns"];
  const digits = Math.max(Math.ceil(-Math.log10(step / factor) - 1e-9), 0);
  return `${(time / factor).toFixed(digits)} ${unit}`;
}

function count(value) {
  for (const [factor, size, unit] of [
    [1e9, 1e9, "G"],
    [1e6, 1e6, "M"],
    [1e4, 1e3, "k"],
  ])
    if (Math.abs(value) >= factor) return `${threeDigits(value / size)} ${unit}`;
  return Number.isInteger(value) ? value.toLocaleString("en") : String(+value.toPrecision(3));
}

function octets(value) {
  for (const [factor, unit] of [
    [2 ** 40, "TiB"],
    [2 ** 30, "GiB"],
    [2 ** 20, "MiB"],
    [2 ** 10, "KiB"],
  ])
    if (value >= factor) return `${+(value / factor).toPrecision(3)} ${unit}`;
  return `${value} B`;
}

function byId(name) {
  return document.getElementById(name);
}

// element("td", {class: "n"}, "text", child...)
function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function css(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
