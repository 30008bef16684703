import { describe, expect, it } from 'vitest';
import { ExchangeRecord } from '../http/exchange-record.ts';
import { refuse } from '../http/refusal.ts';
import { noDeployment } from '../rules/no-update.ts';
import { Journal } from './journal.ts';
import { type Slab, Slabs } from './slabs.ts';

function record(requestId: string, body?: Buffer): ExchangeRecord {
  const request = { method: 'GET', url: '/polls', rawHeaders: ['Host', 'here'] };
  const exchange = new ExchangeRecord(request, requestId);
  exchange.body = body;
  return exchange;
}

function fillJournal(bounds: { entriesMax: number; bytesMax?: number }, count: number): Journal {
  const journal = new Journal({ bytesMax: 1_000_000, ...bounds });
  for (let number = 1; number <= count; number += 1) journal.add(record(`request-${number}`));
  return journal;
}

function sequences(journal: Journal, afterSequence?: number): number[] {
  return [...journal.entries(afterSequence)].map(({ sequence }) => sequence);
}

function fail(): never {
  return expect.unreachable();
}

describe('a journal', () => {
  it('numbers entries from 1 in the order of arrival', () => {
    const journal = fillJournal({ entriesMax: 10 }, 3);
    expect(sequences(journal)).toEqual([1, 2, 3]);
    expect([...journal.newestFirst()].map(({ sequence }) => sequence)).toEqual([3, 2, 1]);
  });

  it('keeps the newest up to its count, and counts dropped ones', () => {
    const journal = fillJournal({ entriesMax: 3 }, 8);
    expect(sequences(journal)).toEqual([6, 7, 8]);
    expect(journal.size).toMatchObject({ added: 8, kept: 3, dropped: 5 });
  });

  it('keeps the newest up to its bytes, whatever the count', () => {
    const journal = new Journal({ entriesMax: 100, bytesMax: 50_000 });
    for (let number = 1; number <= 20; number += 1) {
      journal.add(record(`request-${number}`, Buffer.alloc(16_000)));
    }
    expect(journal.size.bytes).toBeLessThanOrEqual(50_000);
    expect(sequences(journal)).toEqual([18, 19, 20]);
    expect(journal.size).toMatchObject({ kept: 3, dropped: 17 });
  });

  it('keeps a single entry that exceeds its byte limit', () => {
    const journal = new Journal({ entriesMax: 100, bytesMax: 100 });
    journal.add(record('large', Buffer.alloc(10_000)));
    expect(journal.size).toMatchObject({ kept: 1, dropped: 0 });
  });

  it('releases the bytes of dropped entries', () => {
    const journal = fillJournal({ entriesMax: 2 }, 2);
    const { bytes } = journal.size;
    for (let number = 0; number < 100; number += 1) journal.add(record('request-9'));
    expect(journal.size.bytes).toBe(bytes);
  });

  it('continues after a sequence, or from its oldest if that one was dropped', () => {
    const journal = fillJournal({ entriesMax: 3 }, 8);
    expect(sequences(journal, 7)).toEqual([8]);
    expect(sequences(journal, 2)).toEqual([6, 7, 8]);
    expect(sequences(journal, 8)).toEqual([]);
    expect(sequences(journal, 800)).toEqual([]);
  });

  it('finds the newest entry of a request ID, unless it was dropped', () => {
    const journal = fillJournal({ entriesMax: 3 }, 8);
    journal.add(record('request-8'));
    expect(journal.find('request-8')?.sequence).toBe(9);
    expect(journal.find('request-1')).toBeUndefined();
    expect(journal.find('')).toBeUndefined();
  });

  it('finds an entry by its sequence, unless it was dropped or never existed', () => {
    const journal = fillJournal({ entriesMax: 3 }, 8);
    expect(journal.at(7)?.sequence).toBe(7);
    for (const missing of [0, 1, 4, 5, 9, 10, -1, 7.5]) expect(journal.at(missing)).toBeUndefined();
  });

  it('notifies listeners of each entry until they unsubscribe', () => {
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

  it('is empty after a clear and continues its numbering', () => {
    const journal = fillJournal({ entriesMax: 3 }, 2);
    journal.clear();
    expect(sequences(journal)).toEqual([]);
    expect(journal.size).toEqual({ added: 2, kept: 0, bytes: 0, dropped: 0 });
    journal.add(record('after'));
    expect(sequences(journal)).toEqual([3]);
  });

  it('stores nothing and notifies nobody when it is disabled', () => {
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

describe('an exchange in the journal', () => {
  /** Records an exchange in a journal and reads it back. */
  function addAndRead(added: ExchangeRecord): ExchangeRecord {
    const journal = new Journal({ entriesMax: 10, bytesMax: 10_000_000 });
    journal.add(record('before', Buffer.from('a body')));
    journal.add(added);
    journal.add(record('after'));
    return journal.find(added.requestId) ?? fail();
  }

  it('reads back as it was recorded', () => {
    const added = Object.assign(record('whole', Buffer.from('a\nbody')), {
      atMs: 1_790_000_000_123.5,
      tookMs: 0.25,
      streamedMs: 7.5,
      operation: 'count-devices',
      deviceId: 'device-1',
      userId: 'user-1',
      status: 409,
      responseHeaders: ['Content-Type', 'text/plain', 'X-Of', 'Zürich', 'X-Empty', ''],
      responseBytes: 12,
      isStreamed: true,
      isIncomplete: true,
      isComplete: true,
      refusal: refuse.conflict('in use'),
      noUpdate: noDeployment,
    });
    expect(addAndRead(added)).toEqual(added);
  });

  it('reads back as it was recorded if its response was changed', () => {
    const fault = { name: 'f', act: 'status', when: 'before' } as const;
    const varied = [{ id: 'v', rule: 'r' }];
    const responseHeaders = ['X-Odd', 'one\ntwo'];
    const changed = Object.assign(record('changed'), { fault, varied, responseHeaders });
    expect(addAndRead(changed)).toEqual(changed);
  });

  it('keeps one header per value when a name repeats', () => {
    const responseHeaders = ['Link', ['<a>', '<b>'], 'X-None', [], 'X-Last', 'c'];
    const { responseHeaders: read } = addAndRead(
      Object.assign(record('links'), { responseHeaders }),
    );
    expect(read).toEqual(['Link', '<a>', 'Link', '<b>', 'X-Last', 'c']);
  });

  it('may have no headers, and empty or absent bodies', () => {
    const bare = new ExchangeRecord({ method: 'GET', url: '/', rawHeaders: [] }, 'bare');
    bare.body = Buffer.alloc(0);
    expect(addAndRead(bare)).toMatchObject({
      headers: [],
      responseHeaders: [],
      body: Buffer.alloc(0),
    });
    expect(addAndRead(bare).responseBody).toBeUndefined();
  });

  it('is unaffected by later entries while a reader uses it', () => {
    const journal = new Journal({ entriesMax: 1, bytesMax: 10_000_000 });
    journal.add(record('first', Buffer.from('first')));
    const read = journal.find('first') ?? fail();
    for (let number = 0; number < 1000; number += 1) {
      journal.add(record('other', Buffer.alloc(5000, 'x')));
    }
    expect(read).toMatchObject({ requestId: 'first', sequence: 1 });
    expect(String(read.body)).toBe('first');
  });

  it('keeps 16 KiB of each body, and the full lengths', () => {
    const large = record('large', Buffer.alloc(1_000_000, 'a'));
    large.responseBody = 'é'.repeat(10_000);
    const read = addAndRead(large);
    expect(read.body).toEqual(Buffer.alloc(16_384, 'a'));
    expect(read.bodyBytes).toBe(1_000_000);
    expect(read.responseBody).toEqual(Buffer.from('é'.repeat(8192)));
    expect(read.responseBytes).toBe(20_000);
  });

  it('keeps text as its bytes', () => {
    const read = addAndRead(Object.assign(record('text'), { responseBody: '{"error":"é"}' }));
    expect(String(read.responseBody)).toBe('{"error":"é"}');
    expect(read.responseBytes).toBe(14);
  });
});

describe('the memory of a journal', () => {
  it('is reused when it contains no entries any more', () => {
    const slabs = new Slabs();
    const used = new Set<object>();
    const kept: Slab[] = [];
    for (let number = 0; number < 1000; number += 1) {
      const slab = slabs.slabFor(10_000);
      slab.used += 10_000;
      used.add(slab);
      kept.push(slab);
      const oldest = kept.length > 12 ? kept.shift() : undefined;
      if (oldest) slabs.giveBack(oldest);
    }
    expect(used.size).toBeLessThanOrEqual(4);
  });

  it('never hands out room twice, and gives a large entry a separate piece', () => {
    const slabs = new Slabs();
    const first = slabs.slabFor(60_000);
    first.used += 60_000;
    const large = slabs.slabFor(1_000_000);
    expect(large.bytes.length).toBe(1_000_000);
    expect(large).not.toBe(first);
    slabs.giveBack(first);
    expect(slabs.slabFor(10)).toBe(large);
    large.used += 1_000_000;
    expect(slabs.slabFor(10)).toBe(first);
    expect(first.used).toBe(0);
  });
});
