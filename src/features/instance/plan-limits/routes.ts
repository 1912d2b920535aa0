import { z } from 'zod'
import { administratorsFirst, endpoint } from '../../../api/endpoint.ts'
import { blankable, int, oneOf } from '../../../api/wire.ts'
import { PlanLimitsEntity, ofEachLimit, presentLimits } from './entity.ts'
import { loadLimits } from './queries.ts'
import { updateLimits } from './service.ts'

const plan = oneOf('default')

export const get = endpoint({
  method: 'GET',
  path: '/application/plan_limits',
  summary: 'Get the limits of a plan',
  ...administratorsFirst,
  input: z.object({ plan_name: plan.nullish() }),
  output: PlanLimitsEntity,
  handle: async ({ app }) => presentLimits(await loadLimits(app.db)),
})

export const update = endpoint({
  method: 'PUT',
  path: '/application/plan_limits',
  summary: 'Update limits of a plan',
  ...administratorsFirst,
  input: z.object({ plan_name: plan, ...ofEachLimit(blankable(int.pipe(z.int().min(0)))) }),
  output: PlanLimitsEntity,
  async handle({ app, input }) {
    await updateLimits(app, input)
    return presentLimits(await loadLimits(app.db))
  },
})
