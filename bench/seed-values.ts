/** What all seeds share. */
import { DAY } from '../src/clock.ts'

/** Ten users have `RARE` in their name, however many users there are; every email address has `EVERYBODY`. */
export const RARE = 'zyxwvu'
export const EVERYBODY = 'example'

export const daysAgo = (days: number): string => new Date(Date.now() - days * DAY).toISOString()
