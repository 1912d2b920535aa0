import type { App, User } from '../../../context.ts'
import { conflict } from '../../../errors.ts'
import { objectInfo } from '../../../git/objects/objects.ts'
import { resolveRef } from '../../../git/refs/refs.ts'
import { repositoryExists } from '../../../git/storage/repositories.ts'
import type { ProjectSubject } from '../../projects/projects/policy.ts'
import { wikiDir } from '../../projects/repositories/repository.ts'
import { Overtaken, changeRefs, webPusher } from '../gate/service.ts'
import type { Update } from '../gate/updates.ts'
import { changeWiki } from '../gate/wikis.ts'
import type { RepositorySubject } from '../repositories/policy.ts'
import { findUndo, findWikiChangeTo, type ListedRefChange } from './queries.ts'
import { MOVED, PRUNED } from './refusals.ts'
import { revertWikiChange } from './wiki-undo.ts'

/** Moves the ref back through the checks of every push. Returns the change that did it. */
export async function undoRefChange(
  app: App,
  actor: User,
  subject: RepositorySubject,
  change: ListedRefChange,
): Promise<ListedRefChange> {
  const refs = { project: subject.project, wiki: false }
  const update = await reversed(subject.dir, change)
  await refusingMoved(() => changeRefs(app, webPusher(actor, subject.level), subject, [update], { undoes: change.id }))
  return findUndo(app.db, refs, change)
}

/** Moves the ref back, or reverts the files of the change if other pages have changed since. */
export async function undoWikiChange(
  app: App,
  actor: User,
  subject: ProjectSubject,
  change: ListedRefChange,
): Promise<ListedRefChange> {
  const refs = { project: subject.project, wiki: true }
  const dir = wikiDir(app, subject.project)
  if ((await repositoryExists(dir)) && (await resolveRef(dir, change.ref)) !== change.after) {
    const commit = await revertWikiChange(app, actor, subject, change)
    return findWikiChangeTo(app.db, refs, change, commit)
  }
  const update = await reversed(dir, change)
  await refusingMoved(() => changeWiki(app, webPusher(actor, subject.level), subject, [update]))
  return findUndo(app.db, refs, change)
}

/** An earlier change can be undone, too, once the later ones are undone. */
async function reversed(dir: string, { ref, before, after }: ListedRefChange): Promise<Update> {
  if (!(await repositoryExists(dir))) throw conflict(MOVED)
  if ((await resolveRef(dir, ref)) !== after) throw conflict(MOVED)
  if (before !== null && (await objectInfo(dir, before)) === null) throw conflict(PRUNED)
  return { ref, before: after, after: before }
}

async function refusingMoved(move: () => Promise<void>): Promise<void> {
  try {
    await move()
  } catch (error) {
    throw error instanceof Overtaken ? conflict(MOVED) : error
  }
}
