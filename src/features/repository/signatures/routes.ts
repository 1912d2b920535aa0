import { child, endpoint } from '../../../api/endpoint.ts'
import { commit } from '../commits/queries.ts'
import { tag } from '../tags/queries.ts'
import { CommitSignatureEntity, TagSignatureEntity, presentCommitSignature, presentTagSignature } from './entity.ts'
import { signatureOf } from './service.ts'

const signature = { name: 'Signature', key: 'signature', params: {} } as const

const commitSignature = child(commit, {
  ...signature,
  find: (app, { project, commit }) => signatureOf(app, project, commit),
})

const tagSignature = child(tag, {
  ...signature,
  find: (app, { project, tag }) =>
    signatureOf(app, project, { id: tag.target, signature: tag.annotation?.signature ?? null }),
})

export const ofCommit = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/commits/:sha/signature',
  summary: 'Get the signature of a commit and its verification status',
  on: commitSignature,
  allow: 'download',
  by: 'visitor',
  output: CommitSignatureEntity,
  handle: async ({ app, subject }) => presentCommitSignature(subject.signature, app),
})

export const ofTag = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/tags/:tag_name/signature',
  summary: 'Get the signature of a tag and its verification status',
  on: tagSignature,
  allow: 'download',
  by: 'visitor',
  output: TagSignatureEntity,
  handle: async ({ app, subject }) => presentTagSignature(subject.signature, app),
})
