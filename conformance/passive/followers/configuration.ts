/**
 * Follows what devices write into their configuration, and judges what they read there.
 * Spec: Device configuration
 */
import { isDeepStrictEqual } from 'node:util';
import { shown } from '../../target/expectations.ts';
import { isMap, membersOf } from '../../target/json-members.ts';
import type { Act, CaseHistory, HistoryViolation } from '../case-history.ts';
import { intervalOf, KeyedRegister } from '../register.ts';

/** The acts of users that change a configuration or send it to the device. */
const users = ['set-configuration', 'deploy-configuration'] as const;

/** Judges the configuration that each device reads. */
export function followConfiguration(history: CaseHistory): readonly HistoryViolation[] {
  // What users configure is another store on some servers.
  if (!history.seesUsers || history.by(...users).length > 0) return [];
  const stores = new Map<string, KeyedRegister<string>>();
  for (const act of history.by('put-configuration')) {
    const device = history.identityOf(act);
    const { sent } = act.exchange;
    if (device === undefined || !isMap(sent)) continue;
    const store = stores.get(device) ?? new KeyedRegister<string>();
    stores.set(device, store);
    const pairs = Object.entries(sent).map(
      ([key, value]) => [key, value === '' ? undefined : String(value)] as const,
    );
    store.update(new Map(pairs), act);
  }
  return history.by('get-configuration').flatMap((act) => {
    const store = stores.get(history.identityOf(act) ?? '');
    return store === undefined ? [] : misread(store, act);
  });
}

function misread(store: KeyedRegister<string>, act: Act): readonly HistoryViolation[] {
  if (act.exchange.status !== 200) return [];
  const read = membersOf(act.exchange.json);
  return store.keys.flatMap((key): readonly HistoryViolation[] => {
    const value = Object.hasOwn(read, key) ? read[key] : undefined;
    const possible = store.possible(key, intervalOf(act));
    if (possible?.some((each) => isDeepStrictEqual(each, value)) ?? true) return [];
    return [
      {
        act,
        where: `200 body: /${key}`,
        must: `be ${(possible ?? []).map((each) => (each === undefined ? 'absent' : shown(each))).join(' or ')}`,
        seen: value === undefined ? 'absent' : shown(value),
        requirement: 'configuration.written-is-read',
      },
    ];
  });
}
