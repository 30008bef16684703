import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { inNextRound } from '../../fixtures/clock.ts';
import { openStore, type Store } from './store.ts';
import { engines, TestFolder } from './testing/engines.ts';

const large = 'x'.repeat(250_000);
/** At most; each is more than the log has room for without a checkpoint. */
const WRITES = 20;

function attribute(value: string) {
  return { name: 'a', value, updatedMs: 1 };
}

/** Runs in each round of the event loop until the work is done. */
async function meanwhile(work: Promise<unknown>, act: (round: number) => void): Promise<number> {
  let rounds = 0;
  let isDone = false;
  const again = (): void => {
    if (isDone) return;
    act(rounds);
    rounds += 1;
    inNextRound(again);
  };
  inNextRound(again);
  await work.finally(() => {
    isDone = true;
  });
  return rounds;
}

describe.each(engines)('a large store %s', (engine, { openStore }) => {
  // As much as takes several turns.
  const devices = engine === 'in memory' ? 640 : 128;
  let folder: TestFolder;
  let store: Store;

  beforeEach(async () => {
    folder = new TestFolder();
    store = await openStore(folder);
    for (let at = 0; at < devices; at++) tell(at, large);
  });

  afterEach(() => {
    store.close();
    folder.remove();
  });

  function tell(at: number, value: string): void {
    store.inventory.replace(`d${at}`, [attribute(value)]);
  }

  function told(): unknown[] {
    const ids = Array.from({ length: devices }, (_, at) => store.inventory.list(`d${at}`));
    return ids.map(([attribute]) => attribute?.value);
  }

  it('lets others have their turns while it is copied', async () => {
    expect(await meanwhile(store.snapshot(), () => undefined)).toBeGreaterThan(1);
  });

  it('is copied as it was at one moment, whatever is written meanwhile', async () => {
    const copying = store.snapshot();
    let written = 0;
    await meanwhile(copying, (round) => {
      if (round >= WRITES) return;
      // All in one transaction: a copy has each of them or none.
      store.atomically(() => {
        for (let at = 0; at < devices; at += 16) tell(at, `${round}${large}`);
      });
      written += 1;
    });
    expect(written).toBeGreaterThan(0);
    tell(1, 'later');
    await store.restore(await copying);
    const values = told();
    const changed = new Set(values.filter((_, at) => at % 16 === 0));
    expect(changed.size).toBe(1);
    expect(values[1]).toBe(large);
  });

  it('can be copied twice at the same time', async () => {
    const [first, second] = await Promise.all([store.snapshot(), store.snapshot()]);
    tell(0, 'later');
    first.discard();
    await store.restore(second);
    expect(told()[0]).toBe(large);
  });

  it('rejects a copy that is under way when it is closed', async () => {
    const copying = store.snapshot();
    store.close();
    await expect(copying).rejects.toThrow('closed');
    store = await openStore(folder, 'other');
  });
});

describe('a large store in memory that is restored', () => {
  let store: Store;

  beforeEach(async () => {
    store = await openStore();
    for (let at = 0; at < 640; at++) store.inventory.replace(`d${at}`, [attribute(large)]);
  });

  afterEach(() => store.close());

  it('lets others have their turns', async () => {
    const restoring = store.restore(await store.snapshot());
    expect(await meanwhile(restoring, () => undefined)).toBeGreaterThan(1);
  });

  it('stays as it is when the snapshot is discarded meanwhile', async () => {
    const snapshot = await store.snapshot();
    store.inventory.replace('d0', [attribute('kept')]);
    const restoring = store.restore(snapshot);
    snapshot.discard();
    await expect(restoring).rejects.toThrow('the state cannot be copied');
    expect(store.inventory.list('d0')).toEqual([attribute('kept')]);
  });
});
