// What a page takes in Chromium. Prints one JSON object.
//
// node page_times.mjs list LINK            from the link to the first row of the list of sessions
// node page_times.mjs follow LINK SECONDS  the longest task while a busy session is followed
import { Browser } from "../tests/page/browser.mjs";

const [what, link, seconds = "60"] = process.argv.slice(2);
const browser = await Browser.open();
try {
  const page = await browser.context.newPage();
  await page.addInitScript(() => {
    window.longest = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries())
        window.longest = Math.max(window.longest, entry.duration);
    }).observe({ type: "longtask", buffered: true });
  });
  if (what === "list") {
    await page.goto(link, { waitUntil: "commit" });
    await page.getByTestId("session-row").first().waitFor();
    const firstRowMs = await page.evaluate(() => performance.now());
    console.log(JSON.stringify({ firstRowMs }));
  } else {
    await page.goto(link);
    await page.getByTestId("timeline").waitFor();
    const facts = () => page.getByTestId("as-of").locator("b").innerText().then(Number);
    const first = await facts();
    await page.evaluate(() => { window.longest = 0; });
    const began = Date.now();
    await page.waitForTimeout(Number(seconds) * 1_000);
    const longestTaskMs = await page.evaluate(() => window.longest);
    console.log(JSON.stringify({ longestTaskMs, facts: await facts() - first,
      seconds: (Date.now() - began) / 1_000 }));
  }
} finally {
  await browser.close();
}
process.exit(0);
