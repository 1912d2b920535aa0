/** Who wants to be mailed what. Pure. */
import { LEVELS, type CustomEvent, type NotificationLevel } from '../../planning/notification-settings/model.ts'
import type { NotificationPreference } from '../../planning/notification-settings/queries.ts'

/** Why somebody is mailed, the strongest first. */
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

/** How news reaches somebody; `team` is for news of a project as a whole. */
export type Way = 'mention' | 'participating' | 'watch' | 'team' | 'subscription'

/** Those who watch a project are not told of it, unless they take part. */
const NOT_FOR_WATCHERS: readonly (CustomEvent | null)[] = ['push_to_merge_request', 'issue_due', 'success_pipeline']
/** Of what is theirs, or all of theirs, people hear without asking. */
const FOR_PARTICIPANTS: readonly (CustomEvent | null)[] = ['failed_pipeline', 'fixed_pipeline', 'moved_project']

/** Whether news that reaches them this way is wanted by what they said. */
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

/** A pipeline that is mended is one that succeeds, too. */
const isSwitchedOn = (events: NotificationPreference['events'], event: CustomEvent) =>
  events[event] || (event === 'fixed_pipeline' && events.success_pipeline)

/** The highest level at which what came for this reason does not come again. */
export function levelBelow(reason: Reason): NotificationLevel {
  if (reason === 'watching' || reason === 'own_activity') return 'participating'
  return reason === 'mentioned' ? 'disabled' : 'mention'
}

/** Levels at which news comes that is nobody's own. */
export const WATCHING = (['watch', 'custom'] as const).map((level) => LEVELS.indexOf(level))
