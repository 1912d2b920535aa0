import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { id, listOf, longText } from '../../../api/wire.ts'
import { Refusal, forbidden, notFound } from '../../../errors.ts'
import { SuggestionEntity } from '../../planning/notes/suggestion-entity.ts'
import { mergeRequestPolicy } from '../merge-requests/policy.ts'
import { applySuggestions } from './apply.ts'
import { findSuggestions } from './queries.ts'
import { mergeRequestOf, reads, suggestion } from './resource.ts'

export const apply = endpoint({
  method: 'PUT',
  path: '/suggestions/:id/apply',
  summary: 'Apply a suggestion to the source branch',
  on: suggestion,
  allow: 'apply',
  alsoAsks: ['push to the source branch'],
  limiter: 'git',
  input: z.object({ commit_message: longText.nullish() }),
  output: SuggestionEntity,
  handle: async ({ app, viewer, subject, input }) =>
    (await applySuggestions(app, viewer, subject, [subject.suggestion], input.commit_message))[0]!,
})

const MOST = 100

export const batchApply = endpoint({
  method: 'PUT',
  path: '/suggestions/batch_apply',
  summary: 'Apply suggestions of one merge request in one commit',
  allow: 'signed_in',
  alsoAsks: ['participate in the merge request', 'push to the source branch'],
  limiter: 'git',
  input: z.object({ ids: listOf(id), commit_message: longText.nullish() }),
  output: z.array(SuggestionEntity),
  async handle({ app, viewer, input }) {
    const ids = [...new Set(input.ids)]
    if (ids.length > MOST) throw new Refusal('bad_request', `At most ${MOST} suggestions are applied at once`)
    const found = await findSuggestions(app.db, ids)
    if (found.length === 0 || found.length < ids.length) throw notFound('Suggestion')
    const subjects = await Promise.all(found.map((one) => mergeRequestOf(app, one, viewer)))
    const seen = subjects.flatMap((subject) => (subject && reads(subject) ? [subject] : []))
    if (seen.length < found.length) throw notFound('Suggestion')
    if (!seen.every((subject) => mergeRequestPolicy.participate(subject))) throw forbidden()
    const [first] = seen
    if (seen.some(({ mergeRequest }) => mergeRequest.id !== first!.mergeRequest.id))
      throw new Refusal('bad_request', 'Suggestions must all be on the same branch.')
    return applySuggestions(app, viewer, first!, found, input.commit_message)
  },
})
