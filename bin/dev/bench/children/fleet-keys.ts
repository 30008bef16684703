/**
 * Creates the identities of a fleet as `fleetbed simulate` does: names, keys, and the public part
 * of each key. The arguments are the key type and the number of devices; the output is the duration
 * in milliseconds. RSA keys form a new pool of that size.
 */
import { systemClock } from '../../../../fixtures/base/clock.ts';
import { seededRandom } from '../../../../fixtures/base/random.ts';
import { type KeyType, keyTypes } from '../../../../fixtures/contract/vocabulary.ts';
import { Identities } from '../../../../simulator/identity/identities.ts';

const [word = '', count = ''] = process.argv.slice(2);
const keyType = keyTypes.find((name) => name === word);
if (keyType === undefined) throw new Error(`${word} is not a key type`);
const devices = Number(count);
const startedMs = systemClock.monotonicMs();
const random = seededRandom('bench');
const identities = await Identities.open({ devices, rsaPool: { size: devices } }, { random });
await identities.keyring.prepare(ownersOf(keyType));
for (const owner of ownersOf(keyType)) {
  const { publicKeyPem } = await identities.keyring.keyFor(owner);
  const { idData } = identities.of(owner.index);
  JSON.stringify({ id_data: JSON.stringify(idData), pubkey: publicKeyPem });
}
identities.close();
process.stdout.write(`${systemClock.monotonicMs() - startedMs}\n`);

function ownersOf(type: KeyType) {
  return Array.from({ length: devices }, (_, index) => ({ index, keyType: type }));
}
