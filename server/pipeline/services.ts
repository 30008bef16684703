/** Parts of the running server. `openServices` creates them once; every handler receives them. */
import type { Clock } from '../../fixtures/base/clock.ts';
import type { Random } from '../../fixtures/base/random.ts';
import type { VendorNames } from '../../fixtures/contract/vendor-names.ts';
import type { DeviceSockets } from '../connect/device-sockets.ts';
import type { LinkSigner } from '../crypto/link-signature.ts';
import type { TokenIssuer } from '../crypto/tokens.ts';
import type { ByteBudget } from '../http/byte-budget.ts';
import type { Semaphore } from '../http/open-files.ts';
import type { Settings } from '../settings.ts';
import type { Outbox } from '../tenants/outbox.ts';
import type { Tenants } from '../tenants/tenants.ts';
import type { Log } from './log.ts';
import type { LongWork } from './long-work.ts';
import type { StorageErrors } from './storage-errors.ts';
import type { Turns } from './turns.ts';

export interface Services {
  readonly clock: Clock;
  readonly random: Random;
  readonly settings: Settings;
  readonly headerNames: VendorNames;
  readonly tenants: Tenants;
  readonly tokenIssuer: TokenIssuer;
  readonly linkSigner: LinkSigner;
  readonly sockets: DeviceSockets;
  readonly outbox: Outbox;
  readonly log: Log;
  /** Limits open connections, and files sent or received over them. */
  readonly openFiles: Semaphore;
  /** Limits the bytes of incomplete bodies and messages. */
  readonly incompleteTransfers: ByteBudget;
  readonly storageErrors: StorageErrors;
  /** Limits the bytes of responses that clients have not read. */
  readonly unreadBytes: ByteBudget;
  /** Orders requests that arrive at the same time. */
  readonly turns: Turns;
  /** Limits searches that run at the same time. */
  readonly longWork: LongWork;
}
