import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../fixtures/base/random.ts';
import { OUTBOX_MAX, Outbox, type OutboxMessage } from './outbox.ts';

const message: Omit<OutboxMessage, 'id'> = {
  tenantId: 't',
  kind: 'invitation',
  to: 'new@example.com',
  link: 'http://own.example/set?secret_hash=s',
  secret: 's',
  createdMs: 1,
  expiresMs: 2,
};

function outbox(): Outbox {
  return new Outbox(seededRandom('outbox'));
}

describe('the outbox of a tenant server', () => {
  it('keeps messages in order, each with its own ID', () => {
    const box = outbox();
    box.post(message);
    box.post({ ...message, to: 'other@example.com' });
    const [one, other] = box.list();
    expect(one).toEqual({ ...message, id: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    expect(other?.to).toBe('other@example.com');
    expect(one?.id).not.toBe(other?.id);
  });

  it('drops and counts the oldest message when it is full', () => {
    const box = outbox();
    for (let number = 0; number < OUTBOX_MAX + 2; number += 1) {
      box.post({ ...message, to: String(number) });
    }
    expect(box.list()).toHaveLength(OUTBOX_MAX);
    expect([box.list().at(0)?.to, box.dropped]).toEqual(['2', 2]);
  });

  it('is empty once cleared', () => {
    const box = outbox();
    for (let number = 0; number <= OUTBOX_MAX; number += 1) box.post(message);
    box.clear();
    expect([box.list(), box.dropped]).toEqual([[], 0]);
  });

  it('keeps alerts separately, so that they never displace messages', () => {
    const box = outbox();
    box.post(message);
    const mail = { tenantId: 't', to: 'x', deviceId: 'd', subject: 's', text: '', createdMs: 1 };
    for (let number = 0; number < OUTBOX_MAX + 2; number += 1) {
      box.postAlert({ ...mail, subject: String(number) });
    }
    expect([box.list().length, box.alerts().length, box.dropped]).toEqual([1, OUTBOX_MAX, 2]);
    expect(box.alerts()[0]).toEqual({ ...mail, subject: '2', id: expect.any(String) });
    box.clear();
    expect([box.alerts(), box.dropped]).toEqual([[], 0]);
  });
});
