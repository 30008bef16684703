/** Fills the journals of the tenants with what happens on the protocol listeners. */
import type { ExchangeObserver } from '../../pipeline/plug-ins.ts';
import { controlled } from '../controlled-tenant.ts';
import { recordFrames } from './record-frames.ts';
import { UnreadableRecord } from './unreadable.ts';

export const journalObserver: ExchangeObserver = {
  onEnd: (record, tenant) => controlled(tenant).journal.add(record),
  onUnreadable: (request, tenant) => {
    const atMs = tenant.clock.now();
    controlled(tenant).journal.add(new UnreadableRecord({ atMs, ...request }));
  },
  onSocket: (socket, origin, tenant) => {
    const { journal, clock } = controlled(tenant);
    recordFrames(socket, { journal, clock }, origin);
  },
};
