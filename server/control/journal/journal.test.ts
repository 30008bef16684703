import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { ExchangeRecord } from '../../http/exchange-record.ts';
import { Journal } from './journal.ts';

function record(requestId: string, body?: Buffer): ExchangeRecord {
  const request = { method: 'GET', url: '/polls', rawHeaders: ['Host', 'here'] };
  const made = new ExchangeRecord(request as unknown as IncomingMessage, requestId);
  made.body = body;
  return made;
}

function filled(bounds: { entriesMax: number; bytesMax?: number }, count: number): Journal {
  const journal = new Journal({ bytesMax: 1_000_000, ...bounds });
  for (let number = 1; number <= count; number += 1) journal.add(record(`request-${number}`));
  return journal;
}

function sequences(journal: Journal, after?: number): number[] {
  return [...journal.entries(after)].map(({ sequence }) => sequence);
}

function fail(): never {
  return expect.unreachable();
}

describe('a journal', () => {
  it('numbers entries from 1 in the order in which they came', () => {
    const journal = filled({ entriesMax: 10 }, 3);
    expect(sequences(journal)).toEqual([1, 2, 3]);
    expect([...journal.newestFirst()].map(({ sequence }) => sequence)).toEqual([3, 2, 1]);
  });

  it('keeps the newest within its count, and counts what it dropped', () => {
    const journal = filled({ entriesMax: 3 }, 8);
    expect(sequences(journal)).toEqual([6, 7, 8]);
    expect(journal.size).toMatchObject({ added: 8, kept: 3, dropped: 5 });
  });

  it('keeps the newest within its bytes, whatever the count', () => {
    const journal = new Journal({ entriesMax: 100, bytesMax: 50_000 });
    for (let number = 1; number <= 20; number += 1) {
      journal.add(record(`request-${number}`, Buffer.alloc(16_000)));
    }
    expect(journal.size.bytes).toBeLessThanOrEqual(50_000);
    expect(sequences(journal)).toEqual([18, 19, 20]);
    expect(journal.size).toMatchObject({ kept: 3, dropped: 17 });
  });

  it('keeps one entry that is larger than its bytes', () => {
    const journal = new Journal({ entriesMax: 100, bytesMax: 100 });
    journal.add(record('large', Buffer.alloc(10_000)));
    expect(journal.size).toMatchObject({ kept: 1, dropped: 0 });
  });

  it('gives back the bytes of what it drops', () => {
    const journal = filled({ entriesMax: 2 }, 2);
    const { bytes } = journal.size;
    for (let number = 0; number < 100; number += 1) journal.add(record('request-9'));
    expect(journal.size.bytes).toBe(bytes);
  });

  it('goes on after a sequence, and from its oldest when that one is not kept', () => {
    const journal = filled({ entriesMax: 3 }, 8);
    expect(sequences(journal, 7)).toEqual([8]);
    expect(sequences(journal, 2)).toEqual([6, 7, 8]);
    expect(sequences(journal, 8)).toEqual([]);
    expect(sequences(journal, 800)).toEqual([]);
  });

  it('finds the newest of a request id, and nothing of one that is not kept', () => {
    const journal = filled({ entriesMax: 3 }, 8);
    journal.add(record('request-8'));
    expect(journal.find('request-8')?.sequence).toBe(9);
    expect(journal.find('request-1')).toBeUndefined();
    expect(journal.find('')).toBeUndefined();
  });

  it('finds an entry by its sequence, and none of a sequence that took its place or never was', () => {
    const journal = filled({ entriesMax: 3 }, 8);
    expect(journal.at(7)?.sequence).toBe(7);
    for (const missing of [0, 1, 4, 5, 9, 10, -1, 7.5]) expect(journal.at(missing)).toBeUndefined();
  });

  it('tells listeners of every entry until they end it', () => {
    const journal = new Journal({ entriesMax: 2, bytesMax: 1_000_000 });
    const heard: number[] = [];
    const end = journal.subscribe(({ sequence }) => heard.push(sequence), fail);
    journal.add(record('a'));
    journal.add(record('b'));
    journal.add(record('c'));
    end();
    end();
    journal.add(record('d'));
    expect(heard).toEqual([1, 2, 3]);
  });

  it('forgets everything when it is cleared, and goes on counting', () => {
    const journal = filled({ entriesMax: 3 }, 2);
    journal.clear();
    expect(sequences(journal)).toEqual([]);
    expect(journal.size).toEqual({ added: 2, kept: 0, bytes: 0, dropped: 0 });
    journal.add(record('after'));
    expect(sequences(journal)).toEqual([3]);
  });

  it('that is off takes nothing and tells nobody', () => {
    const journal = new Journal({ entriesMax: 0, bytesMax: 1_000_000 });
    journal.subscribe(fail, fail);
    journal.add(record('a'));
    expect(journal.isOff).toBe(true);
    expect(journal.size).toEqual({ added: 0, kept: 0, bytes: 0, dropped: 0 });
    expect(sequences(journal)).toEqual([]);
    expect(journal.at(1)).toBeUndefined();
    expect(journal.find('a')).toBeUndefined();
  });
});

describe('a body in a journal', () => {
  const journal = new Journal({ entriesMax: 10, bytesMax: 10_000_000 });

  it('is whole up to 16 KiB, and is not copied', () => {
    const body = Buffer.alloc(16_384, 'a');
    const kept = record('whole', body);
    journal.add(kept);
    expect(kept.body).toBe(body);
    expect(kept.bodyBytes).toBe(16_384);
  });

  it('is cut after 16 KiB, and its length is told', () => {
    const kept = record('large', Buffer.alloc(1_000_000, 'a'));
    kept.answerBody = 'é'.repeat(10_000);
    journal.add(kept);
    expect(kept.body?.length).toBe(16_384);
    expect(kept.body?.buffer.byteLength).toBeLessThan(100_000);
    expect(kept.bodyBytes).toBe(1_000_000);
    expect(kept.answerBody.length).toBe(16_384);
    expect(kept.answerBytes).toBe(20_000);
  });

  it('of a text is kept as it is when it fits', () => {
    const kept = record('text');
    kept.answerBody = '{"error":"é"}';
    journal.add(kept);
    expect(kept.answerBody).toBe('{"error":"é"}');
    expect(kept.answerBytes).toBe(14);
  });
});
