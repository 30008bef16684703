/**
 * The page's only script: shows the devices that match the filters. The rest of the page is static.
 */

/** Returns the element with this ID. @throws Error when it is missing or of another kind */
function byId<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind {
  const found = document.getElementById(id);
  if (found instanceof kind) return found;
  throw new Error(`the page has no ${kind.name} #${id}`);
}

const words = byId('words', HTMLInputElement);
const outcome = byId('outcome', HTMLSelectElement);
const form = byId('filters', HTMLFormElement);
const rows = [...document.querySelectorAll<HTMLTableRowElement>('#device-list tbody tr')].map(
  (row) => ({
    row,
    text: row.textContent.toLowerCase(),
    outcome: row.querySelector<HTMLElement>('.outcome')?.dataset.outcome ?? '',
  }),
);

function filter(): void {
  const wanted = words.value.trim().toLowerCase().split(/\s+/);
  let shown = 0;
  for (const { row, text, outcome: own } of rows) {
    const fits = wanted.every((word) => text.includes(word));
    row.hidden = !fits || (outcome.value !== '' && outcome.value !== own);
    if (!row.hidden) shown += 1;
  }
  byId('shown-count', HTMLOutputElement).textContent = `${shown} of ${rows.length} devices`;
}

form.addEventListener('input', filter);
form.addEventListener('submit', (event) => event.preventDefault());
form.addEventListener('reset', (event) => {
  // The browser's own reset happens after this event, too late for filtering.
  event.preventDefault();
  words.value = '';
  outcome.value = '';
  filter();
});

export {};
