import { z } from 'zod'
import { assertRules, limited } from '../../../api/rules.ts'
import type { App, User } from '../../../context.ts'
import { Refusal, notFound } from '../../../errors.ts'
import { isBranchName } from '../../../git/process/arguments.ts'
import { writeTag } from '../../../git/objects/building.ts'
import { resolveCommit } from '../../../git/objects/commits.ts'
import { repositoryExists } from '../../../git/storage/repositories.ts'
import { signerOf } from '../commits/landing.ts'
import { changeRefs, webPusher } from '../gate/service.ts'
import type { RepositorySubject } from '../repositories/policy.ts'
import type { LoadedTag } from './entity.ts'
import { findLoadedTag } from './queries.ts'

const refused = (text: string) => new Refusal('bad_request', text)

const refOf = (name: string) => `refs/tags/${name}`

const tagRules = z.object({ message: limited(z.string(), 65_535) })

export interface NewTag {
  tag_name: string
  ref: string
  /** With a message, the tag is annotated. */
  message?: string | null | undefined
}

export async function createTag(app: App, actor: User, subject: RepositorySubject, input: NewTag): Promise<LoadedTag> {
  const { dir, level } = subject
  const name = input.tag_name
  const message = input.message?.trim() ?? ''
  if (!isBranchName(name)) throw refused('Tag name invalid')
  assertRules(tagRules, { message })
  if (await findLoadedTag(dir, name)) throw refused(`Tag ${name} already exists`)
  const object = (await repositoryExists(dir)) ? await resolveCommit(dir, input.ref) : null
  if (object === null) throw refused(`Target ${input.ref} is invalid`)
  const after =
    message === ''
      ? object
      : await writeTag(dir, { name, object, message: `${message}\n`, tagger: signerOf(app, actor) })
  await changeRefs(app, webPusher(actor, level), subject, [{ ref: refOf(name), before: null, after }])
  const tag = await findLoadedTag(dir, name)
  if (!tag) throw notFound('Tag') // a concurrent request deleted the tag
  return tag
}

export async function deleteTag(
  app: App,
  actor: User,
  subject: RepositorySubject,
  { name, target }: LoadedTag,
): Promise<void> {
  const update = { ref: refOf(name), before: target, after: null }
  await changeRefs(app, webPusher(actor, subject.level), subject, [update])
}
