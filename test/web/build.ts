/** Once, before each test process would do it. */
export default async function build(): Promise<void> {
  const { buildWeb } = (await import('../../scripts/build-web.js' as string)) as { buildWeb(): Promise<void> }
  await buildWeb()
}
