/** The mail that the server would have sent, for a test to read and to throw away. */
import type { Express } from 'express';
import { controlPaths } from '../../../fixtures/control-listener.ts';
import type { AlertMail, Message, Outbox } from '../../tenants/outbox.ts';
import { mount } from './answers.ts';

/** Mounts the path of the outbox. */
export function mountOutbox(app: Express, outbox: Outbox): void {
  mount(app, controlPaths.outbox, {
    get: (_, response) =>
      response.json({
        messages: outbox.list().map(view),
        alerts: outbox.alerts().map(alertView),
        dropped: outbox.dropped,
      }),
    delete: (_, response) => {
      outbox.clear();
      response.status(204).end();
    },
  });
}

function view({ createdMs, expiresMs, ...message }: Message) {
  const createdAt = new Date(createdMs).toISOString();
  return { ...message, createdAt, expiresAt: new Date(expiresMs).toISOString() };
}

function alertView({ createdMs, ...mail }: AlertMail) {
  return { ...mail, createdAt: new Date(createdMs).toISOString() };
}
