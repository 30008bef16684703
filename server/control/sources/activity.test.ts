import { describe, expect, it } from 'vitest';
import { type Activity, ActivityFeed } from './activity.ts';

const activity: Activity = {
  atMs: 1,
  operation: 'get-next-deployment',
  method: 'GET',
  status: 204,
  requestId: 'r',
};

function fail(error: unknown): never {
  throw error;
}

describe('the activity feed', () => {
  it('reaches every subscriber in order', () => {
    const feed = new ActivityFeed();
    const seen: string[] = [];
    feed.subscribe(({ status }) => seen.push(`one ${status}`), fail);
    feed.subscribe(({ status }) => seen.push(`other ${status}`), fail);
    feed.publish(activity);
    feed.publish({ ...activity, status: 409 });
    expect(seen).toEqual(['one 204', 'other 204', 'one 409', 'other 409']);
  });

  it('stores no events for later subscribers and none for former ones', () => {
    const feed = new ActivityFeed();
    const seen: Activity[] = [];
    feed.publish(activity);
    const leave = feed.subscribe((each) => seen.push(each), fail);
    leave();
    leave();
    feed.publish(activity);
    expect(seen).toEqual([]);
  });

  it('continues for the other subscribers when one throws, and logs the error once', () => {
    const feed = new ActivityFeed();
    const seen: string[] = [];
    feed.subscribe(
      () => {
        seen.push('throws');
        throw new Error('broken');
      },
      (error) => seen.push(`${error}`),
    );
    feed.subscribe(({ status }) => seen.push(`other ${status}`), fail);
    feed.publish(activity);
    feed.publish(activity);
    expect(seen).toEqual(['throws', 'Error: broken', 'other 204', 'other 204']);
  });

  it('reports whether it has subscribers', () => {
    const feed = new ActivityFeed();
    expect(feed.watched).toBe(false);
    const [one, other] = [
      feed.subscribe(() => undefined, fail),
      feed.subscribe(() => undefined, fail),
    ];
    one();
    expect(feed.watched).toBe(true);
    other();
    expect(feed.watched).toBe(false);
  });
});
