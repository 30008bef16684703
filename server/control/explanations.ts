/** Why a request was refused, by its request id. */
import type { Express } from 'express';
import {
  type ExplainFacts,
  type Explanation,
  explain,
  type RefusedRecord,
} from '../explain/explain.ts';
import { explanationText } from '../explain/explanation-text.ts';
import { refusedRecord } from '../explain/unreadable.ts';
import type { Tenant, Tenants } from '../tenants.ts';
import { mount, refuse, worldOf } from './answers.ts';

/** What explanations are made with, beside a record and its world. */
export type ExplainSettings = Omit<ExplainFacts, 'world'>;

/** Where the explanations are; the request id follows. */
export const explanationsPath = '/explanations';

/** Mounts the path of explanations: as JSON, or as text where the caller asks for that. */
export function mountExplanations(app: Express, tenants: Tenants, settings: ExplainSettings): void {
  mount(app, `${explanationsPath}/:requestId`, {
    get: (request, response) => {
      const { requestId = '' } = request.params;
      const named = request.query.world !== undefined;
      const world = named ? worldOf(tenants, request, response) : undefined;
      if (named && !world) return;
      const found = find(world ? [world] : tenants.list(), String(requestId));
      if ('because' in found) {
        refuse(response, 404, found.because);
        return;
      }
      const explanation = explain(found.record, { ...settings, world: found.world });
      if (!explanation) {
        refuse(response, 404, `the request was not refused; it was answered ${found.status}`);
      } else send(explanation, request.accepts(['json', 'text']), response);
    },
  });
}

function send(
  explanation: Explanation,
  form: string | false,
  response: Parameters<typeof refuse>[0],
): void {
  if (form === 'text') response.type('text/plain').send(explanationText(explanation));
  else response.json(explanation);
}

interface Found {
  readonly world: Tenant;
  readonly record: RefusedRecord;
  readonly status: number;
}

function find(worlds: readonly Tenant[], requestId: string): Found | { readonly because: string } {
  for (const world of worlds) {
    const record = world.journal.find(requestId);
    if (record) return { world, record, status: record.status };
    for (const entry of world.journal.newestFirst()) {
      if (entry.kind !== 'unreadable' || entry.requestId !== requestId) continue;
      return { world, record: refusedRecord(entry), status: entry.status };
    }
  }
  const bounds = worlds.map(({ name, journal }) => {
    const { entriesMax, bytesMax } = journal.bounds;
    return `${name} the newest ${entriesMax} exchanges and ${bytesMax} bytes`;
  });
  return {
    because: `no request of this id is in the journal; it keeps of ${bounds.join(', of ')}`,
  };
}
