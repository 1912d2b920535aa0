/** Decides who gets which mail, by notification level. Pure functions. */
import { LEVELS, type CustomEvent, type NotificationLevel } from '../../planning/notification-settings/model.ts'
import type { NotificationPreference } from '../../planning/notification-settings/queries.ts'

/** Reasons for a mail, the strongest first. */
export const REASONS = [
  'own_activity',
  'assigned',
  'review_requested',
  'mentioned',
  'subscribed',
  'participating',
  'watching',
] as const
export type Reason = (typeof REASONS)[number]

export const strongest = (reasons: readonly Reason[]): Reason =>
  REASONS.find((reason) => reasons.includes(reason)) ?? 'watching'

/** How an event concerns a user. `team` is for events of a project as a whole. */
export type Way = 'mention' | 'participating' | 'watch' | 'team' | 'subscription'

/** Users who watch a project get no mail of these events, unless they participate. */
const NOT_FOR_WATCHERS: readonly (CustomEvent | null)[] = ['push_to_merge_request', 'issue_due', 'success_pipeline']
/** Participants get mail of these events without enabling them. */
const FOR_PARTICIPANTS: readonly (CustomEvent | null)[] = ['failed_pipeline', 'fixed_pipeline', 'moved_project']

/** Whether the user's setting lets this event through. */
export function isNotified({ level, events }: NotificationPreference, way: Way, event: CustomEvent | null): boolean {
  if (way === 'subscription') return true
  const isTheirs = way === 'mention' || way === 'participating'
  switch (level) {
    case 'mention':
      return way === 'mention'
    case 'participating':
      return isTheirs || FOR_PARTICIPANTS.includes(event)
    case 'custom':
      return isTheirs || (event !== null && isSwitchedOn(events, event))
    case 'watch':
      return way !== 'watch' || !NOT_FOR_WATCHERS.includes(event)
    default:
      return false
  }
}

/** A fixed pipeline is also a successful one. */
const isSwitchedOn = (events: NotificationPreference['events'], event: CustomEvent) =>
  events[event] || (event === 'fixed_pipeline' && events.success_pipeline)

/** The highest level at which mails of this reason stop. */
export function levelBelow(reason: Reason): NotificationLevel {
  if (reason === 'watching' || reason === 'own_activity') return 'participating'
  return reason === 'mentioned' ? 'disabled' : 'mention'
}

/** Levels that include events the user has no part in. */
export const WATCHING = (['watch', 'custom'] as const).map((level) => LEVELS.indexOf(level))
