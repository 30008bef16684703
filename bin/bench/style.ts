/** The style of the pages of benchmarks and profiles, behind that of all reports. */
import { reportStyle } from '../../fixtures/markup.ts';

/** Returns the whole style of a page. */
export function benchStyle(): string {
  return `${reportStyle()}\n${own}`;
}

const own = `
:root {
  --good: light-dark(#1c6b33, #7fd894);
  --bad: light-dark(#b3261e, #ff8a80);
}

h2 {
  margin: 1.5rem 0 0.5rem;
  font-size: 1.25rem;
}

[data-tone="good"] {
  color: var(--good);
  fill: var(--good);
}

[data-tone="bad"] {
  color: var(--bad);
  fill: var(--bad);
}

figure {
  margin: 0.5rem 0 1.5rem;
}

svg {
  width: 100%;
  height: auto;
}

svg text {
  fill: var(--ink);
  font-size: 14px;
}

.goal {
  stroke: var(--ink);
  stroke-width: 2;
  stroke-dasharray: 6 4;
}

/* Frames of a flame graph, by where their code comes from. */
.frame rect {
  stroke: var(--ground);
}

.frame text {
  font-size: 11px;
  fill: #1b1d21;
}

.frame[data-from="own"] rect {
  fill: #f2a65a;
}

.frame[data-from="package"] rect {
  fill: #f6d55c;
}

.frame[data-from="node"] rect {
  fill: #9fc5e8;
}

.frame[data-from="engine"] rect {
  fill: #c9c9c9;
}
`;
