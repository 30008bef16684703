/** Returns the audit log as a paged list and as CSV. Spec: Audit logs */
import { firstCharacters } from '../../../fixtures/base/characters.ts';
import { resultInTurns } from '../../../fixtures/base/clock.ts';
import { limits } from '../../../fixtures/contract/limits.ts';
import { refuse } from '../../http/refusal.ts';
import { defineEndpoint } from '../../pipeline/endpoint.ts';
import { pagingHeaders } from '../paging.ts';
import { auditCsv, auditFields, unknownField } from './audit-csv.ts';

export const listAuditLogs = defineEndpoint('list-audit-logs', async ({ query }, context) => {
  const { store, request } = context;
  const page = { page: query.page, perPage: query.per_page };
  const search = { filter: query, order: query.sort };
  const { total, entries } = await resultInTurns(store.auditLogs.find(search, page), context);
  const headers = pagingHeaders({ url: request.url ?? '', total, ...page });
  return { status: 200, headers, body: entries };
});

export const exportAuditLogs = defineEndpoint('export-audit-logs', ({ query }, context) => {
  const { store, settings } = context;
  const { format_separator: separator, ignore: ignored } = query;
  const unknownName = unknownField(ignored, separator);
  if (unknownName !== undefined) {
    const fields = auditFields.join(', ');
    const problem = `unknown field "${shortenName(unknownName)}"; the fields are ${fields}`;
    const detail = { expected: `some of ${fields}` };
    return refuse.malformedAt('query', { path: 'ignore', problem }, detail);
  }
  return {
    status: 200,
    body: auditCsv({
      separator,
      ignored,
      spreadsheetSafe: settings.spreadsheetSafeCsv,
      batches: store.auditLogs.readBatches(
        { filter: query, order: query.sort },
        query.limit ?? limits.auditExportMax,
      ),
    }),
  };
});

const NAME_SHOWN_MAX_CHARACTERS = 100;

function shortenName(name: string): string {
  return firstCharacters(name, NAME_SHOWN_MAX_CHARACTERS);
}
