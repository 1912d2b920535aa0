import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { text } from '../../../api/wire.ts'
import { issue } from '../issues/queries.ts'
import { TimeStatsEntity, presentTimeStats } from './entity.ts'
import { estimate, resetEstimate, resetSpent, spend } from './service.ts'

const PATH = '/projects/:id/issues/:issue_iid'
const writing = { on: issue, allow: 'update', output: TimeStatsEntity } as const

export const stats = endpoint({
  method: 'GET',
  path: `${PATH}/time_stats`,
  summary: 'Get how long an issue should take, and took',
  on: issue,
  allow: 'read',
  guest: true,
  output: TimeStatsEntity,
  handle: async ({ subject }) => presentTimeStats(subject.issue),
})

export const setEstimate = endpoint({
  method: 'POST',
  path: `${PATH}/time_estimate`,
  summary: 'Say how long an issue should take',
  ...writing,
  status: 200,
  input: z.object({ duration: text }),
  handle: async ({ app, viewer, subject, input }) =>
    presentTimeStats(await estimate(app, viewer, subject.issue, input.duration)),
})

export const clearEstimate = endpoint({
  method: 'POST',
  path: `${PATH}/reset_time_estimate`,
  summary: 'Forget how long an issue should take',
  ...writing,
  status: 200,
  handle: async ({ app, viewer, subject }) => presentTimeStats(await resetEstimate(app, viewer, subject.issue)),
})

export const addSpent = endpoint({
  method: 'POST',
  path: `${PATH}/add_spent_time`,
  summary: 'Add to the time spent on an issue, or take back of it',
  ...writing,
  input: z.object({ duration: text }),
  handle: async ({ app, viewer, subject, input }) =>
    presentTimeStats(await spend(app, viewer, subject.issue, input.duration)),
})

export const clearSpent = endpoint({
  method: 'POST',
  path: `${PATH}/reset_spent_time`,
  summary: 'Forget the time spent on an issue',
  ...writing,
  status: 200,
  handle: async ({ app, viewer, subject }) => presentTimeStats(await resetSpent(app, viewer, subject.issue)),
})
