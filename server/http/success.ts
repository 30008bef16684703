/**
 * A successful response as a value. The response writer writes it, or the code that takes over the
 * connection does.
 */
import type { NoUpdate } from '../rules/no-update.ts';
import type { UpgradeRequest } from './upgrade-request.ts';

/** A file that is served with ranges and preconditions. */
export interface FileBody {
  readonly folder: string;
  /** Name within the folder: the digest of the content, which also serves as a strong validator. */
  readonly name: string;
  readonly mediaType: string;
  readonly downloadName: string;
  readonly modifiedMs: number;
  readonly sizeBytes: number;
}

/** The function that takes over the connection after an upgrade. */
export interface ProtocolUpgrade {
  readonly upgrade: (request: UpgradeRequest) => void;
}

/** A successful response of any operation. */
export interface Success {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: unknown;
  readonly fileBody?: FileBody;
  readonly upgrade?: ProtocolUpgrade['upgrade'];
  /**
   * The reason why a device that requested an update receives none; recorded in the journal, not
   * sent.
   */
  readonly noUpdate?: NoUpdate | undefined;
}
