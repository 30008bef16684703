/** Requests for an inventory that is as large as devices may make it. */
import { limits } from '../../../fixtures/contract/limits.ts';
import { managementOperations } from '../../../fixtures/contract/management/index.ts';
import { pathOf } from '../../../fixtures/contract/operation.ts';
import { operations } from '../../../fixtures/contract/operations.ts';
import type { FuzzTarget } from './fuzz-target.ts';

/** As many attributes as fill a device, each of so many characters that JSON escapes. */
const ATTRIBUTES = 98;
const CHARACTERS = 430;
const SORT_KEYS = 20;

const list = managementOperations['list-inventory'];
const search = managementOperations['search-inventory'];

/** Fills the inventory of every device of the target with the most that it may hold. */
export async function fillInventories({ ready, deviceTokens }: FuzzTarget): Promise<void> {
  const { method, path } = operations['put-attributes'];
  const value = '\u0001'.repeat(CHARACTERS);
  const attributes = Array.from({ length: ATTRIBUTES }, (_, at) => ({ name: `a${at}`, value }));
  const body = JSON.stringify(attributes);
  for (const token of deviceTokens) {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const answer = await fetch(ready.baseUrl + path, { method, headers, body });
    await answer.arrayBuffer();
    if (!answer.ok) throw new Error(`a full inventory was answered ${answer.status}`);
  }
}

const terms = Array.from({ length: SORT_KEYS }, (_, at) => ({
  scope: 'inventory',
  attribute: `a${at}`,
}));
const searchFor = (asked: object) => ({
  line: `${search.method} ${search.path}`,
  json: JSON.stringify({ page: 1, per_page: 1, ...asked }),
});

/** What a user asks for, by what the row is called. */
export const inventoryQuestions: Readonly<
  Record<string, { readonly line: string; readonly json?: string }>
> = {
  'inventory, the longest page of full devices': {
    line: `GET ${pathOf(list)}?per_page=${limits.pageMax}`,
  },
  'inventory, full devices sorted by many attributes': searchFor({
    sort: terms.map((place) => ({ ...place, order: 'desc' })),
  }),
  'inventory, full devices with many conditions': searchFor({
    filters: terms.map((place) => ({ ...place, type: '$regex', value: '(a*)*(b*)*z' })),
  }),
};
