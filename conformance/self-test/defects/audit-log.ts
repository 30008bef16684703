/** Planted defects of the audit log. */
import { jsonOf, withHeaders, withJson } from '../alter.ts';
import type { Defect } from '../defect.ts';
import { answerBecomes, parameterBecomes } from '../plants.ts';

export const auditLogDefects: readonly Defect[] = [
  {
    id: 'audit-log-is-oldest-first',
    title: 'Entries come oldest first.',
    breaks: ['audit.newest-first'],
    operations: ['list-audit-logs'],
    plant: parameterBecomes('sort', 'asc'),
  },
  {
    id: 'export-ignores-its-limit',
    title: 'The export holds every entry whatever the limit.',
    breaks: ['audit.export-limit'],
    operations: ['export-audit-logs'],
    plant: parameterBecomes('limit', undefined),
  },
  {
    id: 'export-is-made-whole',
    title: 'The export is put together first and sent with its length.',
    breaks: ['audit.export-is-streamed'],
    operations: ['export-audit-logs'],
    plant: answerBecomes((answer) => withHeaders(answer, { 'transfer-encoding': undefined })),
  },
  {
    id: 'audit-pages-are-one-too-long',
    title: 'A page holds one entry more than was asked for.',
    breaks: ['audit.pages'],
    operations: ['list-audit-logs'],
    plant: answerBecomes((answer) => {
      const list = jsonOf(answer);
      return Array.isArray(list) && list.length > 0 ? withJson(answer, [...list, list[0]]) : answer;
    }),
  },
];
