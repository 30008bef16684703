/** Measures how long it takes to generate the keys of a large fleet. */
import type { KeyType } from '../../../../fixtures/contract/vocabulary.ts';
import type { BenchContext } from '../rounds.ts';
import { type BenchRow, limitRow } from '../row.ts';
import { once } from './observed.ts';

interface Keys {
  readonly keyType: KeyType;
  readonly count: number;
  readonly titleOf: (count: string) => string;
  readonly limitSeconds: number;
}

const keys: readonly Keys[] = [
  {
    keyType: 'ed25519',
    count: 100_000,
    titleOf: (count) => `${count} identities, Ed25519`,
    limitSeconds: 10,
  },
  {
    keyType: 'ecdsa',
    count: 100_000,
    titleOf: (count) => `${count} identities, P-256`,
    limitSeconds: 10,
  },
  {
    keyType: 'rsa',
    count: 64,
    titleOf: (count) => `pool of ${count} RSA keys`,
    limitSeconds: 15,
  },
];
/** Share of the keys that a quick run generates; its limit is reduced by the same share. */
const QUICK_SHARE = 0.1;

/** Measures each key type in a separate process, which may use both cores. */
export async function fleetKeyRows({ children, output, quick }: BenchContext): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const { keyType, count: whole, titleOf, limitSeconds } of keys) {
    const share = quick ? QUICK_SHARE : 1;
    const count = Math.ceil(whole * share);
    const title = titleOf(count.toLocaleString('en-US'));
    output.progress(`making ${title}`);
    const child = await children.script('alone', 'fleet-keys', keyType, String(count));
    await child.end();
    const subject = once('fleetbed', Number(child.firstLine) / 1000);
    const note = `not pinned to one core, without cached keys, measured once`;
    rows.push(limitRow({ title, unit: 's', subject, limit: limitSeconds * share, note }));
  }
  return rows;
}
