import { expect, test } from 'vitest'
import { startForge } from '../../../forge.ts'

test('Go is told the repository of a package, and nothing of what is hidden', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const { body: outer } = await administrator.post('/groups', { name: 'Outer', path: 'outer', visibility: 'public' })
  const inner = { name: 'Inner', path: 'inner', parent_id: outer.id, visibility: 'public' }
  const { body: group } = await administrator.post('/groups', inner)
  for (const [path, visibility] of [
    ['mill', 'public'],
    ['safe', 'private'],
  ])
    await administrator.post('/projects', { name: path, path, visibility, namespace_id: group.id })
  const host = forge.url.replace('http://', '')
  const answerAt = async (path: string) => {
    const answer = await fetch(`${forge.url}/${path}?go-get=1`)
    expect(answer.status).toBe(200)
    return /content="([^"]*)"/.exec(await answer.text())?.[1]
  }
  const mill = `${host}/outer/inner/mill git ${forge.url}/outer/inner/mill.git`
  expect(await answerAt('outer/inner/mill')).toBe(mill)
  expect(await answerAt('outer/inner/mill/some/package')).toBe(mill)
  const hidden = `${host}/outer/inner git ${forge.url}/outer/inner.git`
  expect(await answerAt('outer/inner/safe')).toBe(hidden)
  expect(await answerAt('outer/inner/none')).toBe(hidden)
  expect(await answerAt('a/%22%3E%3Cscript%3E')).not.toMatch(/[<>]/)
})
