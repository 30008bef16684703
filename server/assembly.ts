/** Puts the services together that every handler is handed; `server.ts` opens the listeners around them. */
import type { Clock } from '../fixtures/clock.ts';
import { vendorNames } from '../fixtures/contract/vendor-names.ts';
import type { Random } from '../fixtures/random.ts';
import { DeviceSockets } from './connect/device-sockets.ts';
import { createLinkSigner } from './crypto/link-signature.ts';
import { newTokenKey, tokenAlgorithms } from './crypto/token-algorithms.ts';
import { createTokenIssuer } from './crypto/tokens.ts';
import type { Log } from './log.ts';
import { Outbox } from './outbox.ts';
import type { Services } from './services.ts';
import type { Settings } from './settings.ts';
import { Tenants } from './tenants.ts';

/** What the services are made from. */
interface Inputs {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** Services over an empty store; `tenants.close()` gives back what they hold. */
export async function assembleServices({
  settings,
  clock,
  random,
  log,
}: Inputs): Promise<Services> {
  const tenants = await Tenants.open({ clock, random });
  const algorithm = settings.variants.has('rs256') ? 'RS256' : 'EdDSA';
  const names = vendorNames(settings.headerPrefix);
  return {
    clock,
    random,
    settings,
    names,
    tenants,
    tokens: createTokenIssuer(await newTokenKey(tokenAlgorithms[algorithm], random)),
    links: createLinkSigner(random),
    sockets: new DeviceSockets({ clock, random, settings, requestIdHeader: names.requestId }),
    outbox: new Outbox(random),
    log,
  };
}
