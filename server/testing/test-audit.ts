/** Reads and fills the audit log in tests. */
import * as v from 'valibot';
import { type AuditLog, auditLogsShape } from '../../fixtures/contract/resources.ts';
import { authenticate, newDevice } from './test-device.ts';
import type { TestResponse, TestServer } from './test-server.ts';

/** Lists the audit log as a user. */
export function listLogs(
  server: TestServer,
  query: Readonly<Record<string, string>> | URLSearchParams = {},
): Promise<TestResponse> {
  return server.call('list-audit-logs', { token: server.adminToken, query });
}

/** Exports the audit log as a user. */
export function exportLogs(
  server: TestServer,
  query: Readonly<Record<string, string>> | URLSearchParams = {},
): Promise<TestResponse> {
  return server.call('export-audit-logs', { token: server.adminToken, query });
}

/** Returns the entries, newest first by default, in the contract's shape. @throws ValiError */
export async function entries(
  server: TestServer,
  query: Readonly<Record<string, string>> = {},
): Promise<AuditLog[]> {
  const response = await listLogs(server, { per_page: '500', ...query });
  return v.parse(auditLogsShape, response.json<unknown>());
}

/** Creates one entry by the first contact of each device. */
export async function makeFirstContacts(
  server: TestServer,
  names: readonly string[],
): Promise<void> {
  for (const name of names) await authenticate(server, newDevice(name));
}
