/** Fills the journals of the tenants with what happens on the protocol listeners. */
import type { ExchangeObserver } from '../../pipeline/plug-ins.ts';
import { controlled } from '../controlled-tenant.ts';
import { keepLastPoll } from './last-poll.ts';
import { recordFrames } from './record-frames.ts';
import { UnreadableRecord } from './unreadable.ts';

export const journalObserver: ExchangeObserver = {
  onEnd: (record, tenant) => {
    // First, as the journal keeps only the beginning of a long body.
    keepLastPoll(record, tenant.store.devices);
    controlled(tenant).journal.add(record);
  },
  onUnreadable: (request, tenant) => {
    const atMs = tenant.clock.now();
    controlled(tenant).journal.add(new UnreadableRecord({ atMs, ...request }));
  },
  onSocket: (socket, origin, tenant) => {
    const { journal, clock } = controlled(tenant);
    recordFrames(socket, { journal, clock }, origin);
  },
};
