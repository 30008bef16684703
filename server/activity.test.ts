import { describe, expect, it } from 'vitest';
import { type Activity, ActivityFeed } from './activity.ts';

const activity: Activity = {
  atMs: 1,
  operation: 'get-next-deployment',
  method: 'GET',
  status: 204,
  requestId: 'r',
};

describe('the activity feed', () => {
  it('reaches everyone who has subscribed, in order', () => {
    const feed = new ActivityFeed();
    const seen: string[] = [];
    feed.subscribe(({ status }) => seen.push(`one ${status}`));
    feed.subscribe(({ status }) => seen.push(`other ${status}`));
    feed.publish(activity);
    feed.publish({ ...activity, status: 409 });
    expect(seen).toEqual(['one 204', 'other 204', 'one 409', 'other 409']);
  });

  it('keeps nothing for those who come later, and nothing for those who have left', () => {
    const feed = new ActivityFeed();
    const seen: Activity[] = [];
    feed.publish(activity);
    const leave = feed.subscribe((each) => seen.push(each));
    leave();
    leave();
    feed.publish(activity);
    expect(seen).toEqual([]);
  });

  it('knows whether anyone watches', () => {
    const feed = new ActivityFeed();
    expect(feed.watched).toBe(false);
    const [one, other] = [feed.subscribe(() => undefined), feed.subscribe(() => undefined)];
    one();
    expect(feed.watched).toBe(true);
    other();
    expect(feed.watched).toBe(false);
  });
});
