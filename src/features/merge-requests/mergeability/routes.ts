import { endpoint } from '../../../api/endpoint.ts'
import { mergeRequest } from '../merge-requests/queries.ts'
import { mayMergeInto } from '../../repository/repositories/rights.ts'
import { freshlyChecked } from './check.ts'
import { MergeabilityEntity, presentGate, presentRights } from './entity.ts'
import { mergeFacts } from './facts.ts'
import { detailedMergeStatus, gatesOf, mergeStatus } from './gates.ts'

export const verdict = endpoint({
  method: 'GET',
  path: '/projects/:id/merge_requests/:merge_request_iid/mergeability',
  summary: 'Get the merge checks of a merge request',
  on: mergeRequest,
  allow: 'readMergeRequest',
  output: MergeabilityEntity,
  async handle({ app, subject }) {
    const one = await freshlyChecked(app, subject.mergeRequest, subject.project)
    const [found, mayMerge] = await Promise.all([
      mergeFacts(app.db, [one]),
      mayMergeInto(app, subject, one.target_branch),
    ])
    const facts = found.get(one.id)!
    const gates = [...gatesOf(facts).map(presentGate), presentRights(mayMerge, one.target_branch)]
    return {
      mergeable: gates.every(({ state }) => state === 'passed' || state === 'off'),
      merge_status: mergeStatus(facts),
      detailed_merge_status: detailedMergeStatus(facts),
      gates,
      conflicts: [...facts.conflicts],
    }
  },
})
