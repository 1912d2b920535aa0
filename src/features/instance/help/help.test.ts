import { expect, test } from 'vitest'
import { startForge } from '../../../forge.ts'

test('everybody reads what the instance says, visitors unless nothing is to be public', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const help = () => fetch(`${forge.url}/api/v4/application/help`)
  expect(await (await help()).json()).toEqual({ text: null, html: null, support_url: null })

  const text = 'Ask **Joe**. <script>alert(1)</script>'
  const url = 'https://help.example/desk'
  await root.put('/application/settings', { help_page_text: text, help_page_support_url: url })
  const { html, ...rest } = (await (await help()).json()) as { html: string }
  expect(rest).toEqual({ text, support_url: url })
  expect(html).toContain('<strong>Joe</strong>')
  expect(html).not.toContain('<script')

  await root.put('/application/settings', { restricted_visibility_levels: ['public'] })
  expect((await help()).status).toBe(401)
  expect((await (await forge.user()).get('/application/help')).status).toBe(200)
})
