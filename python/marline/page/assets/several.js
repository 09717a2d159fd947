// SPDX-License-Identifier: Apache-2.0
// The pages of several runs: tables that sort, and plots.

const marlinePage = { ready: false };
window.marlinePage = marlinePage; // what tests look at

const plots = new Plots(JSON.parse(byId("meta").textContent).plots, null);
sortTables();
const followed = followTheme(() => plots.draw());
printInLight(followed, () => plots.draw());
marlinePage.ready = true;
