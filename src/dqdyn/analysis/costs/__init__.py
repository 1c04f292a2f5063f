"""Operation counts: what the papers print beside what their steps cost here."""
