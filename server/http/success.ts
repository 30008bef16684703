/**
 * A successful answer as a value; written by the answer writer, or by the code that takes over the
 * connection.
 */
import type { NoUpdate } from '../rules/no-update.ts';
import type { UpgradeRequest } from './upgrade-request.ts';

/** A file, served with ranges and preconditions. */
export interface FileBody {
  readonly folder: string;
  /**
   * Name within the folder; it is the content's digest, so it is also used as a strong validator.
   */
  readonly name: string;
  readonly mediaType: string;
  readonly downloadName: string;
  readonly modifiedMs: number;
  readonly sizeBytes: number;
}

/** The further use of the connection once its upgrade is granted. */
export interface Upgrading {
  readonly upgrade: (request: UpgradeRequest) => void;
}

/** A successful answer of any operation. */
export interface Success {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: unknown;
  readonly fileBody?: FileBody;
  readonly upgrade?: Upgrading['upgrade'];
  /** Why a device that requested an update gets none; for the journal, not for the wire. */
  readonly noUpdate?: NoUpdate | undefined;
}
