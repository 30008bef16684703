/** Defects in the permissions of roles. Spec: Authentication, rule 5 */
import { statusBecomes } from '../alterations.ts';
import type { Defect } from '../defect.ts';

const auditLog = ['list-audit-logs', 'export-audit-logs'] as const;

export const roleDefects: readonly Defect[] = [
  {
    id: 'forbidden-by-role-is-401',
    title: 'A user whose role does not permit the audit log is answered with 401.',
    violates: ['errors.role-forbidden-is-403'],
    operations: auditLog,
    alter: statusBecomes(403, 401),
  },
  {
    id: 'every-role-exports-the-audit-log',
    title: 'The audit log is exported to a user whose role does not permit it.',
    violates: ['errors.role-forbidden-is-403'],
    operations: ['export-audit-logs'],
    alter: statusBecomes(403, 200),
  },
  {
    id: 'devices-hide-from-roles',
    title: 'Devices are not found by a user whose role does not permit them.',
    violates: ['errors.role-forbidden-on-management'],
    operations: ['get-device'],
    alter: statusBecomes(403, 404),
  },
  {
    id: 'every-role-deploys',
    title: 'A user whose role permits nothing creates deployments.',
    violates: ['errors.role-forbidden-on-management'],
    operations: ['create-deployment'],
    alter: statusBecomes(403, 201),
  },
];
