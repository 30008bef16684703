/** The audit log as a paged list and as CSV. Spec: Audit logs */
import { limits } from '../../fixtures/contract/limits.ts';
import { defineEndpoint } from '../http/endpoint.ts';
import { pagingHeaders } from '../http/paging.ts';
import { auditCsv } from './audit-csv.ts';

export const listAuditLogs = defineEndpoint('list-audit-logs', ({ query }, { store, request }) => {
  const page = { page: query.page, perPage: query.per_page };
  const total = store.auditLogs.count(query);
  return {
    status: 200,
    headers: pagingHeaders({ url: request.url ?? '', total, ...page }),
    body: store.auditLogs.list(query, query.sort, page),
  };
});

export const exportAuditLogs = defineEndpoint('export-audit-logs', ({ query }, { store }) => {
  const most = query.limit ?? limits.auditExportMax;
  // What is written while the document is on its way would shift the parts that are still to come.
  const filter = { ...query, lastSeq: store.auditLogs.lastSeq() };
  return {
    status: 200,
    body: auditCsv({
      separator: query.format_separator,
      ignored: query.ignore,
      most,
      read: (page) => store.auditLogs.list(filter, query.sort, page),
    }),
  };
});
