/** Once, before the processes of the tests would each do it. */
export default async function build(): Promise<void> {
  const { buildWeb } = (await import('../../scripts/build-web.js' as string)) as { buildWeb(): Promise<void> }
  await buildWeb()
}
