/** Fills the journals of the tenants with what happens on the protocol listeners. */

import type { ExchangeObserver } from '../pipeline/plug-ins.ts';
import { keepLastPoll } from './last-poll.ts';
import { recordFrames } from './record-frames.ts';
import { journalOf } from './tenant-journal.ts';
import { UnreadableRecord } from './unreadable.ts';

export const journalObserver: ExchangeObserver = {
  onEnd: (record, tenant) => {
    // First, as the journal keeps only the beginning of a long body.
    keepLastPoll(record, tenant.store.devices);
    journalOf(tenant).add(record);
  },
  onUnreadable: (request, tenant) => {
    const atMs = tenant.clock.now();
    journalOf(tenant).add(new UnreadableRecord({ atMs, ...request }));
  },
  onSocket: (socket, origin, tenant) => {
    recordFrames(socket, { journal: journalOf(tenant), clock: tenant.clock }, origin);
  },
};
