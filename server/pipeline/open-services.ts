/** Opens the tenants, and creates the services that every handler receives. */
import { createPrivateKey } from 'node:crypto';
import type { Clock } from '../../fixtures/base/clock.ts';
import type { Random } from '../../fixtures/base/random.ts';
import { vendorNames } from '../../fixtures/contract/vendor-names.ts';
import { DeviceSockets } from '../connect/device-sockets.ts';
import type { SocketObserver } from '../connect/socket-observer.ts';
import { createLinkSigner, LINK_SECRET_BYTES } from '../crypto/link-signature.ts';
import {
  createTokenIssuer,
  type TokenAlgorithm,
  type TokenKey,
  tokenAlgorithms,
  tokenKeyOf,
} from '../crypto/tokens.ts';
import { ByteBudget } from '../http/byte-budget.ts';
import { Semaphore } from '../http/open-files.ts';
import type { Settings } from '../settings.ts';
import type { DataFolder } from '../store/folder/data-folder.ts';
import { Outbox } from '../tenants/outbox.ts';
import { type Tenant, Tenants } from '../tenants/tenants.ts';
import type { Log } from './log.ts';
import { LongWork } from './long-work.ts';
import type { Services } from './services.ts';
import { StorageErrors } from './storage-errors.ts';
import { Turns } from './turns.ts';

interface ServiceInputs {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** The folder for state and secrets; nothing is persisted when it is absent. */
  readonly data?: DataFolder | undefined;
  /** Called with each tenant when it is created. */
  readonly onTenantCreated?: (tenant: Tenant) => void;
  /** Observers of WebSockets. */
  readonly observers?: readonly SocketObserver[];
  /** Limit shared by everything that opens files or connections; unlimited when absent. */
  readonly openFiles?: Semaphore;
  /** Limit shared by all incomplete transfers; unlimited when absent. */
  readonly incompleteTransfers?: ByteBudget;
  /** Limit shared by all unread responses; unlimited when absent. */
  readonly unreadBytes?: ByteBudget;
}

/**
 * Opens the services with a data folder, or with an empty store; `tenants.close()` releases their
 * resources.
 */
export async function openServices({
  settings,
  clock,
  random,
  log,
  data,
  onTenantCreated,
  observers = [],
  openFiles = new Semaphore(Number.MAX_SAFE_INTEGER),
  incompleteTransfers = new ByteBudget(Number.MAX_SAFE_INTEGER),
  unreadBytes = new ByteBudget(Number.MAX_SAFE_INTEGER),
}: ServiceInputs): Promise<Services> {
  const tenants = await Tenants.open({
    clock,
    random,
    data,
    rateLimit: settings.rateLimit,
    onTenantCreated,
  });
  const algorithm = tokenAlgorithms[settings.dialects.has('rs256') ? 'RS256' : 'EdDSA'];
  const secret: SecretSource = data ? (name, make) => data.secret(name, make) : (_, make) => make();
  const headerNames = vendorNames(settings.headerPrefix);
  const requestIdHeader = headerNames.requestId;
  return {
    clock,
    random,
    settings,
    headerNames,
    tenants,
    tokenIssuer: createTokenIssuer(await tokenKey(algorithm, random, secret)),
    linkSigner: createLinkSigner(
      await secret('link signature', () => random.bytes(LINK_SECRET_BYTES)),
    ),
    sockets: new DeviceSockets({
      random,
      settings,
      requestIdHeader,
      incompleteTransfers,
      observers,
      log,
    }),
    outbox: new Outbox(random),
    log,
    openFiles,
    incompleteTransfers,
    storageErrors: new StorageErrors({
      log,
      clock,
      folder: data?.path ?? tenants.first.store.files.folder,
    }),
    unreadBytes,
    turns: new Turns(clock),
    longWork: new LongWork(incompleteTransfers),
  };
}

/**
 * Returns the secret of this name; creates it when it is missing, and stores it if there is a data
 * folder.
 */
type SecretSource = (
  name: string,
  make: () => Buffer | Promise<Buffer>,
) => Buffer | Promise<Buffer>;

/** Each algorithm has its own stored key, so that a server can change the algorithm. */
async function tokenKey(
  algorithm: TokenAlgorithm,
  random: Random,
  secret: SecretSource,
): Promise<TokenKey> {
  const key = await secret(`token key ${algorithm.name}`, async () => {
    const privateKey = await algorithm.makeKey(random);
    return privateKey.export({ format: 'der', type: 'pkcs8' });
  });
  return tokenKeyOf(algorithm, createPrivateKey({ key, format: 'der', type: 'pkcs8' }));
}
