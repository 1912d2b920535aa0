/** Endpoints of time tracking, for every kind of item. */
import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { text } from '../../../api/wire.ts'
import type { RegisteredKind } from '../items/registry.ts'
import { TimeStatsEntity, presentTimeStats } from './entity.ts'
import { trackTime } from './tracking.ts'

export function timeTrackingOn(kind: RegisteredKind) {
  const { path, resource: on, itemOf: of } = kind
  const noun = kind.one
  const work = trackTime(kind)
  const writing = { on, allow: 'update', output: TimeStatsEntity } as const
  return {
    stats: endpoint({
      method: 'GET',
      path: `${path}/time_stats`,
      summary: `Get the time tracking stats of ${noun}`,
      on,
      allow: kind.reading,
      by: kind.by,
      output: TimeStatsEntity,
      handle: async ({ subject }) => presentTimeStats(of(subject)),
    }),

    setEstimate: endpoint({
      method: 'POST',
      path: `${path}/time_estimate`,
      summary: `Set the time estimate of ${noun}`,
      ...writing,
      status: 200,
      input: z.object({ duration: text }),
      handle: async ({ app, viewer, subject, input }) =>
        presentTimeStats(await work.estimate(app, viewer, of(subject), input.duration)),
    }),

    clearEstimate: endpoint({
      method: 'POST',
      path: `${path}/reset_time_estimate`,
      summary: `Reset the time estimate of ${noun}`,
      ...writing,
      status: 200,
      handle: async ({ app, viewer, subject }) => presentTimeStats(await work.resetEstimate(app, viewer, of(subject))),
    }),

    addSpent: endpoint({
      method: 'POST',
      path: `${path}/add_spent_time`,
      summary: `Add or subtract time spent on ${noun}`,
      ...writing,
      status: kind.timeAdded,
      input: z.object({ duration: text }),
      handle: async ({ app, viewer, subject, input }) =>
        presentTimeStats(await work.spend(app, viewer, of(subject), input.duration)),
    }),

    clearSpent: endpoint({
      method: 'POST',
      path: `${path}/reset_spent_time`,
      summary: `Reset the time spent on ${noun}`,
      ...writing,
      status: 200,
      handle: async ({ app, viewer, subject }) => presentTimeStats(await work.resetSpent(app, viewer, of(subject))),
    }),
  }
}
