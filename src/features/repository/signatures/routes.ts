import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { text } from '../../../api/wire.ts'
import { notFound } from '../../../errors.ts'
import { commitOr404 } from '../commits/queries.ts'
import { repository } from '../repositories/queries.ts'
import { tag } from '../tags/queries.ts'
import { CommitSignatureEntity, TagSignatureEntity, presentCommitSignature, presentTagSignature } from './entity.ts'
import { signatureOf } from './service.ts'

export const ofCommit = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/commits/:sha/signature',
  summary: 'Get the signature of a commit, and whether it holds',
  on: repository,
  allow: 'download',
  guest: true,
  abilityFirst: true,
  input: z.object({ sha: text }),
  output: CommitSignatureEntity,
  async handle({ app, subject, input }) {
    const signature = await signatureOf(app, subject.project, await commitOr404(subject, input.sha))
    if (!signature) throw notFound('Signature')
    return presentCommitSignature(signature, app)
  },
})

export const ofTag = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/tags/:tag_name/signature',
  summary: 'Get the signature of a tag, and whether it holds',
  on: tag,
  allow: 'download',
  guest: true,
  abilityFirst: true,
  output: TagSignatureEntity,
  async handle({ app, subject: { project, tag } }) {
    if (!tag) throw notFound('Tag')
    const signed = { id: tag.target, signature: tag.annotation?.signature ?? null }
    const signature = await signatureOf(app, project, signed)
    if (!signature) throw notFound('Signature')
    return presentTagSignature(signature, app)
  },
})
