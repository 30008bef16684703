/** The journal of a test's server, read through the control listener. */
import type { TestServer } from './test-server.ts';
import { control } from './test-tenants.ts';

/** The fields of a shown entry that tests use. */
interface ShownEntry {
  readonly sequence: number;
  readonly kind: string;
  readonly at: string;
  readonly requestId?: string;
  readonly operation?: string;
  readonly method?: string;
  readonly path?: string;
  readonly status?: number;
  readonly device?: { readonly id?: string; readonly identity?: string };
  readonly userId?: string;
  readonly deployment?: string;
  readonly refusal?: { readonly status: number; readonly error: string };
  readonly requestBody?: unknown;
  readonly responseBody?: unknown;
  readonly [name: string]: unknown;
}

/** A page of the journal. */
export interface ShownPage {
  readonly bounds: { readonly entriesMax: number; readonly bytesMax: number };
  readonly size: Readonly<Record<'added' | 'kept' | 'bytes' | 'dropped', number>>;
  readonly next: number;
  readonly more: boolean;
  readonly entries: readonly ShownEntry[];
  readonly error?: string;
  readonly otherEntries?: readonly ShownEntry[];
}

/** Reads a path of the journal that must answer 200. @throws Error when it does not */
export async function journalPage(server: TestServer, query = '', path = '/journal') {
  const response = await control(server, 'GET', `${path}?${query}`);
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${response.text}`);
  return JSON.parse(response.text) as ShownPage;
}

/** Waits for entries; resolves with the status and the body of the response. */
export async function awaited(
  server: TestServer,
  query: string,
): Promise<{ readonly status: number; readonly page: ShownPage }> {
  const response = await control(server, 'GET', `/await?${query}`);
  return { status: response.status, page: JSON.parse(response.text) as ShownPage };
}
