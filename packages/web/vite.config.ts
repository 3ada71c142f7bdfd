import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { compileMessages } from "./scripts/compile-messages.ts";

export default defineConfig({
  // Relative to the <base> of the page, into which the server writes its base path.
  base: "./",
  plugins: [react(), tailwindcss(), compileMessages()],
  build: {
    // Beside the server's `dist`: it is found from the same depth in `src` and `dist`, and packed with the server.
    outDir: "../server/web",
    emptyOutDir: true,
    manifest: true,
    target: "es2022",
    // A data: address would need a hole in the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: { proxy: { "/api": "http://127.0.0.1:7410" } },
});
