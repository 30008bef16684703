/** All followers: what the exchanges of a case show together, by area of the contract. */
import type { Follower } from '../case-history.ts';
import { followConfiguration } from './configuration.ts';

export const followers: readonly Follower[] = [followConfiguration];
