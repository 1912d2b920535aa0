import { Secret, TOTP } from 'otpauth'
import { expect, test } from 'vitest'
import { startForge } from '../../src/forge.ts'
import { PASSWORD, barriers, openTab } from './browser.ts'

test.each([true, false])('a second factor is set up, asked for and switched off; scripts: %s', async (hasScripts) => {
  await using forge = await startForge()
  const jane = await forge.user({ password: PASSWORD })
  const options = { javaScriptEnabled: hasScripts, viewport: { width: 360, height: 800 } }
  await using tab = await openTab(forge, jane, options)
  const page = await tab.go('/-/profile/two_factor_auth')
  await page.getByLabel('Current password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Set up authenticator app' }).click()
  const secret = await page.getByRole('textbox', { name: 'Secret' }).inputValue()
  await page.getByRole('img', { name: 'QR code' }).waitFor()
  expect(hasScripts ? await barriers(page) : []).toEqual([])
  const next = () => {
    forge.clock.advance(30_000)
    return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: forge.clock.now().getTime() })
  }
  await page.getByRole('textbox', { name: 'Code' }).fill(next())
  await page.getByRole('button', { name: 'Enable' }).click()
  await page.getByText('10 recovery codes left.').waitFor()
  const codes = (await page.getByLabel('Recovery codes').locator('pre').textContent())!.split('\n')
  expect(codes).toHaveLength(10)

  await using other = await openTab(forge, null, options)
  await other.page.goto(`${forge.url}/users/sign_in?return_to=/-/profile`)
  await other.page.getByLabel('Username or email').fill(jane.username)
  await other.page.getByLabel('Password').fill(PASSWORD)
  await other.page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await other.page.getByLabel('Authenticator code').fill(codes[0]!)
  await other.page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await other.page.waitForURL('**/-/profile')

  await page.getByRole('textbox', { name: 'Code' }).first().fill(next())
  await page.getByRole('button', { name: 'Disable' }).click()
  await page.getByRole('button', { name: 'Set up authenticator app' }).waitFor()
  expect((await jane.get('/user')).body.two_factor_enabled).toBe(false)
  expect(tab.complaints()).toEqual([])
})

test('a passkey is added, signs in alone and after the password, and is removed', async () => {
  // Browsers keep passkeys for host names, not for IP addresses.
  await using forge = await startForge({ settings: { HOST: 'localhost' } })
  const jane = await forge.user({ password: PASSWORD })
  await using tab = await openTab(forge, jane)
  const page = await tab.go('/-/profile/two_factor_auth')
  const devices = await page.context().newCDPSession(page)
  await devices.send('WebAuthn.enable')
  await devices.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
    },
  })
  await page.getByText('Add a passkey').click()
  await page.getByLabel('Passkey name').fill('Laptop')
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Add passkey' }).click()
  await page.getByText('10 recovery codes left.').waitFor()
  await page.getByText('never used').waitFor()
  expect(await barriers(page)).toEqual([])

  const signOut = async () => {
    await page.getByLabel('Account').click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.waitForURL('**/users/sign_in')
  }
  await signOut()
  await page.goto(`${forge.url}/users/sign_in?return_to=/-/profile/two_factor_auth`)
  expect(await barriers(page)).toEqual([])
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await page.getByText('Laptop').waitFor()
  await page.getByText('· last used').waitFor()
  await signOut()
  await page.goto(`${forge.url}/users/sign_in?return_to=/-/profile/two_factor_auth`)
  await page.getByLabel('Username or email').fill(jane.username)
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByRole('heading', { name: 'Two-factor authentication' }).waitFor()
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await page.getByText('Edit', { exact: true }).click()
  await page.getByLabel('Name', { exact: true }).fill('Old laptop')
  await page.getByRole('button', { name: 'Rename' }).click()
  await page.getByText('Old laptop').waitFor()
  await page.getByLabel('Password', { exact: true }).first().fill(PASSWORD)
  await page.getByRole('button', { name: 'Remove passkey' }).click()
  await page.getByText('Old laptop').waitFor({ state: 'detached' })
  expect((await jane.get('/user')).body.two_factor_enabled).toBe(false)
  expect(tab.complaints()).toEqual([])
})

test('messages to everybody are shown where they belong, and dismissed; failed jobs and the log of changes', async () => {
  await using forge = await startForge()
  const { administrator, app } = forge
  await administrator.put('/users/1', { password: PASSWORD })
  await administrator.put('/application/settings', { sign_in_text: 'Ask **Jane** for an account.' })
  const say = (message: string, more: object = {}) => administrator.post('/broadcast_messages', { message, ...more })
  await say('We move on Sunday.')
  await say('Read this.', { dismissable: false, theme: 'light-red' })
  await say('Only explorers.', { target_path: '/explore*' })
  await say('For owners.', { target_access_levels: [50] })
  const now = app.clock.now().toISOString()
  const dead = { payload: '{}', state: 'dead', attempts: 12, run_at: now, created_at: now } as const
  for (const name of ['one', 'two'])
    await app.db
      .insertInto('jobs')
      .values({ ...dead, name, last_error: 'the disk was full' })
      .execute()

  await using tab = await openTab(forge, administrator, { viewport: { width: 360, height: 800 } })
  const page = await tab.go('/explore')
  const messages = page.getByLabel('Broadcast messages', { exact: true })
  expect(await messages.locator('p').allTextContents()).toEqual(['Only explorers.', 'Read this.', 'We move on Sunday.'])
  await page.getByRole('button', { name: 'Dismiss message' }).last().click()
  await page.getByText('We move on Sunday.').waitFor({ state: 'detached' })
  await tab.go('/admin/background_jobs')
  expect(await messages.locator('p').allTextContents()).toEqual(['Read this.'])
  expect(await page.getByText('the disk was full').count()).toBe(2)
  expect(await barriers(page)).toEqual([])
  page.on('dialog', (dialog) => void dialog.accept())
  await page.getByText('Delete', { exact: true }).first().click()
  await page.locator('code', { hasText: 'two' }).waitFor({ state: 'detached' })
  await page.getByText('Retry', { exact: true }).first().click()
  await page.getByText('No failed jobs').waitFor()
  await tab.go('/admin/audit_log')
  await page.getByText('Delete a failed background job').waitFor()
  await page.getByText('Update settings of the instance').waitFor()
  expect(await barriers(page)).toEqual([])
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
  await using visitor = await openTab(forge, null, { javaScriptEnabled: false })
  await visitor.page.goto(`${forge.url}/users/sign_in`)
  expect(await visitor.page.locator('strong').textContent()).toBe('Jane')
  expect(tab.complaints()).toEqual([])
})
