/** Makes whatever texts of a world can be long as long as told. */
import type { World } from './web/world.ts'
import { keepFiles, writeLog } from './pipelines.ts'

export const PROJECT = '/projects/mill%2Fwheel'
const GROUP = '/groups/mill'

/** Of texts with a limit of their own, in characters. */
const [BRIEF, SOME, MORE] = [250, 16_000, 65_000]
const MB = 1024 * 1024

async function put(world: World, path: string, input: Record<string, unknown>): Promise<{ id: number }> {
  const { status, body } = await world.member.put(path, input)
  if (status >= 300) throw new Error(`PUT ${path}: ${status} ${JSON.stringify(body).slice(0, 300)}`)
  return body
}

export async function lengthen(world: World, text: string): Promise<void> {
  await lengthenPlanning(world, text)
  await lengthenCode(world, text)
  await lengthenJobs(world, text)
  // Every change of an issue ends the to-do item of the user who changes it.
  await world.member.post(`${PROJECT}/issues/1/todo`)
  await world.forge.settle()
}

async function firstOf(world: World, path: string): Promise<Record<'id' | 'name', string>> {
  const { body } = await world.member.get(path)
  return body[0]
}

async function lengthenPlanning(world: World, text: string): Promise<void> {
  const { snippets } = world
  const description = text
  const note = async (at: string) => {
    const { id } = await firstOf(world, `${at}/notes?sort=asc&activity_filter=only_comments`)
    await put(world, `${at}/notes/${id}`, { body: text })
  }
  await put(world, PROJECT, { description: text.slice(0, BRIEF) })
  await put(world, GROUP, { description: text.slice(0, BRIEF) })
  await put(world, `${PROJECT}/issues/1`, { description })
  await note(`${PROJECT}/issues/1`)
  await put(world, `${PROJECT}/merge_requests/1`, { description })
  for (const owner of [PROJECT, GROUP]) {
    const { id } = await firstOf(world, `${owner}/milestones`)
    await put(world, `${owner}/milestones/${id}`, { description: text.slice(0, SOME) })
    const label = await firstOf(world, `${owner}/labels`)
    await put(world, `${owner}/labels/${label.id}`, { description: text.slice(0, BRIEF) })
  }
  await put(world, `${PROJECT}/releases/v1.0`, { description: text.slice(0, MORE) })
  await put(world, `${PROJECT}/wikis/home`, { content: text })
  const snippet = { description: text.slice(0, SOME), content: text }
  await put(world, `${PROJECT}/snippets/${snippets.project}`, snippet)
  await put(world, `/snippets/${snippets.own}`, snippet)
}

async function lengthenCode({ forge, member }: World, text: string): Promise<void> {
  const message = text.slice(0, MORE)
  const { body: project } = await member.get(PROJECT)
  const files = { 'README.md': text, 'src/stone.ts': text, '.gitlab-ci.yml': ciFile(text) }
  await forge.seed(project, files, { as: member, message: `Lengthen\n\n${message}` })
  await forge.seed(project, { 'src/stone.ts': `${text}\nfaster` }, { as: member, branch: 'faster', message })
  await member.delete(`${PROJECT}/repository/tags/long`)
  await member.post(`${PROJECT}/repository/tags`, { tag_name: 'long', ref: 'master', message })
}

/** As long as it may be. */
const ciFile = (text: string) => JSON.stringify({ build: { script: text.slice(0, MB / 8) } })

async function lengthenJobs({ forge, job, pipeline }: World, text: string): Promise<void> {
  const { db } = forge.app
  await db.deleteFrom('ci_trace_chunks').where('job_id', '=', job).execute()
  await writeLog(forge, job, text)
  const checked = await db
    .selectFrom('ci_jobs')
    .select(['id', 'project_id'])
    .where('pipeline_id', '=', pipeline)
    .where('name', '=', 'check')
    .executeTakeFirstOrThrow()
  await db.deleteFrom('ci_artifacts').where('job_id', '=', checked.id).execute()
  const failure = text.replaceAll('\u001b', '.').replaceAll('<', '.').replaceAll('&', '.')
  const report = `<testsuite><testcase name="a"><failure>${failure}</failure></testcase></testsuite>`
  await keepFiles(forge, checked, { 'junit.xml': report }, { file_type: 'junit', file_format: 'raw' })
}
