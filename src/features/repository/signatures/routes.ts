import { endpoint } from '../../../api/endpoint.ts'
import { notFound } from '../../../errors.ts'
import { commit } from '../commits/queries.ts'
import { tag } from '../tags/queries.ts'
import { CommitSignatureEntity, TagSignatureEntity, presentCommitSignature, presentTagSignature } from './entity.ts'
import { signatureOf } from './service.ts'

export const ofCommit = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/commits/:sha/signature',
  summary: 'Get the signature of a commit, and whether it holds',
  on: commit,
  allow: 'download',
  guest: true,
  output: CommitSignatureEntity,
  async handle({ app, subject }) {
    const signature = await signatureOf(app, subject.project, subject.commit)
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
  output: TagSignatureEntity,
  async handle({ app, subject: { project, tag } }) {
    const signed = { id: tag.target, signature: tag.annotation?.signature ?? null }
    const signature = await signatureOf(app, project, signed)
    if (!signature) throw notFound('Signature')
    return presentTagSignature(signature, app)
  },
})
