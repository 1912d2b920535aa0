import { expect, test } from 'vitest'
import { CUSTOM_EVENTS, type CustomEvent, type NotificationLevel } from '../../planning/notification-settings/model.ts'
import { isNotified, levelBelow, strongest, type Way } from './levels.ts'

const LEVELS = ['disabled', 'mention', 'participating', 'watch', 'custom'] as const

/** Whether each level gets the mail; `s`: only where the custom event is on. */
const table: [Way, CustomEvent | null, string][] = [
  // disabled mention participating watch custom
  ['mention', 'new_note', 'no yes yes yes yes'],
  ['participating', 'new_note', 'no no yes yes yes'],
  ['watch', 'new_note', 'no no no yes s'],
  ['subscription', null, 'yes yes yes yes yes'],
  ['watch', null, 'no no no yes no'],
  ['participating', null, 'no no yes yes yes'],
  ['watch', 'push_to_merge_request', 'no no no no s'],
  ['participating', 'push_to_merge_request', 'no no yes yes yes'],
  ['watch', 'issue_due', 'no no no no s'],
  ['watch', 'success_pipeline', 'no no no no s'],
  ['watch', 'failed_pipeline', 'no no yes yes s'],
  ['watch', 'fixed_pipeline', 'no no yes yes s'],
  ['watch', 'new_release', 'no no no yes s'],
  ['team', 'moved_project', 'no no yes yes s'],
]

const settingOf = (level: NotificationLevel, event: CustomEvent | null, isOn: boolean) => ({
  level,
  events: { ...CUSTOM_EVENTS, success_pipeline: false, ...(event && { [event]: isOn }) },
})

test.each(table)('%s of %s is wanted as: %s', (way, event, row) => {
  const expected = LEVELS.map((level) => {
    const [on, off] = [
      isNotified(settingOf(level, event, true), way, event),
      isNotified(settingOf(level, event, false), way, event),
    ]
    return on === off ? (on ? 'yes' : 'no') : on ? 's' : 'the other way round'
  })
  expect(expected.join(' ')).toBe(row)
})

test('every event with custom is one’s own choice', () => {
  for (const event of Object.keys(CUSTOM_EVENTS) as CustomEvent[])
    expect([
      isNotified(settingOf('custom', event, true), 'watch', event),
      isNotified(settingOf('custom', event, false), 'watch', event),
    ]).toEqual([true, false])
  const success = {
    level: 'custom' as const,
    events: { ...CUSTOM_EVENTS, success_pipeline: true, fixed_pipeline: false },
  }
  expect(isNotified(success, 'watch', 'fixed_pipeline')).toBe(true)
})

test('the strongest reason is told, and the level below it ends it', () => {
  expect(strongest(['watching', 'mentioned', 'participating'])).toBe('mentioned')
  expect(strongest(['subscribed', 'review_requested', 'assigned'])).toBe('assigned')
  expect(strongest(['watching', 'own_activity'])).toBe('own_activity')
  for (const [reason, way] of [
    ['watching', 'watch'],
    ['participating', 'participating'],
    ['mentioned', 'mention'],
  ] as const) {
    const level = levelBelow(reason)
    expect(isNotified(settingOf(level, 'new_note', false), way, 'new_note')).toBe(false)
  }
  expect(isNotified(settingOf(levelBelow('participating'), 'failed_pipeline', true), 'watch', 'failed_pipeline')).toBe(
    false,
  )
})
