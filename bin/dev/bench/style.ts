/** The style of the pages of benchmarks and profiles, behind that of all pages. */
import { themeStyle } from '../../../fixtures/markup.ts';

/** Returns the whole style of a page. */
export function benchStyle(): string {
  return `${themeStyle()}\n${own}`;
}

const own = `
main {
  max-width: 80rem;
  margin: 0 auto;
  padding: 1rem;
}

h2 {
  margin: 1.5rem 0 0.5rem;
}

dl {
  display: grid;
  grid-template-columns: max-content 1fr;
  gap: 0.1rem 1rem;
}

.hint {
  color: var(--quiet);
}

.mark {
  font-weight: 600;
}

.scroll {
  overflow-x: auto;
}

table {
  width: 100%;
  border-collapse: collapse;
  margin-block: 0.5rem 1.5rem;
}

caption {
  padding: 0.4rem 0;
  text-align: start;
  font-weight: 600;
}

th,
td {
  padding: 0.3rem 0.6rem 0.3rem 0;
  border-bottom: 1px solid var(--line);
  text-align: start;
  vertical-align: top;
}

th[scope="row"] {
  font-weight: 400;
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
