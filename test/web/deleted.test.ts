import { expect, test } from 'vitest'
import { startForge } from '../../src/forge.ts'
import { PASSWORD, openTab } from './browser.ts'

test('owners restore deleted projects and groups, or delete them for good', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  await root.put('/application/settings', { deletion_adjourned_period: 7 })
  const jane = await forge.user({ username: 'jane', password: PASSWORD })
  const { id } = (await jane.post('/projects', { path: 'saw', name: 'Saw' })).body
  const { id: group } = (await jane.post('/groups', { path: 'tools', name: 'Tools' })).body
  await jane.delete(`/projects/${id}`)
  await jane.delete(`/groups/${group}`)
  await using tab = await openTab(forge, jane)
  const page = await tab.go('/dashboard/projects')
  await page.click('text=Deleted projects and groups')
  await page.waitForSelector('text=jane/saw')
  await page.click('[aria-label="Projects"] button:has-text("Restore")')
  await page.waitForURL(`${forge.url}/jane/saw`)
  expect((await jane.get(`/projects/${id}`)).status).toBe(200)

  await tab.go('/dashboard/deleted')
  await page.fill('[aria-label="Groups"] [name=confirmation]', 'tool')
  await page.click('button:has-text("Delete permanently")')
  await page.waitForSelector('text=Enter tools to confirm.')
  expect((await jane.get(`/groups/${group}`, { include_pending_delete: true })).status).toBe(200)
  await page.fill('[aria-label="Groups"] [name=confirmation]', 'tools')
  await page.click('button:has-text("Delete permanently")')
  await page.waitForSelector('text=No deleted projects or groups')
  expect((await jane.get(`/groups/${group}`, { include_pending_delete: true })).status).toBe(404)
})
